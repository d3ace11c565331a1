fn main() {
    for path in std::env::args().skip(1) {
        let start = std::time::Instant::now();
        let outcome = pushmem_halide::read(std::path::Path::new(&path));
        let time = start.elapsed();
        match outcome {
            Ok(checked) => println!("=== {path} {time:?}\n{}", checked.program),
            Err(error) => println!("=== {path} {time:?}\n{error:?}"),
        }
    }
}

//! The programs in `apps`: all of them are read, executed and printed; tables are what their comments say.

use crate::common::{app, apps, random_inputs};
use pushmem_files::Document;
use pushmem_nest::Program;

fn names() -> Vec<String> {
    let paths = std::fs::read_dir(apps()).unwrap().map(|entry| entry.unwrap().path());
    let yaml = paths.filter(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    let mut names: Vec<String> = yaml.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn are_executed_and_read_back() {
    assert!(names().len() >= 46);
    for name in names() {
        let program = app(&name);
        assert_eq!(program.name, name);
        let text = program.to_string();
        let again = Program::from_document(&Document::parse("printed", text.clone()).unwrap()).unwrap();
        assert_eq!(again.program.to_string(), text);
        // The execution refuses reads of what was never written, and so tests the checks in closed form.
        let inputs = random_inputs(&program, 1, 65535);
        let outputs = program.run(&inputs).unwrap();
        assert_eq!(again.program.run(&inputs).unwrap(), outputs, "{name}");
    }
}

#[test]
fn tables_are_what_their_comments_say() {
    let values = |name: &str| app(name).tables[0].values.clone();
    let curve: Vec<i64> = (0..1024)
        .map(|entry| {
            let gamma = (f64::from(entry) / 1024.0).sqrt();
            let beta = 2.0 - 2.0_f64.sqrt();
            let alpha = 2.0 - 2.0 * beta;
            let rest = 1.0 - gamma;
            let value = match gamma > 0.5 {
                true => 1.0 - (alpha * rest * rest + beta * rest),
                false => alpha * gamma * gamma + beta * gamma,
            };
            (256.0 * value).clamp(0.0, 255.0) as i64
        })
        .collect();
    assert_eq!(values("camera_pipeline_new"), curve);
    let quarter: Vec<i64> = (0..256_i64).map(|entry| (entry - 1).max(0) / 4).collect();
    assert_eq!(values("camera_pipeline"), quarter);
    assert_eq!(values("rom"), quarter);
    assert_eq!(values("unsharp_new"), (1..256).map(|divisor| 256 / divisor).collect::<Vec<i64>>());
}

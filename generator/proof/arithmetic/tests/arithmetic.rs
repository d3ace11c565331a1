//! The operations of the programs of the project.

use std::path::{Path, PathBuf};

use pushmem_arithmetic::prove_arithmetic;
use pushmem_datapaths::{Datapath, DedicatedOperators, TableMemories};
use pushmem_files::Document;
use pushmem_kernels::DatapathGraph;
use pushmem_nest::Program;
use pushmem_rewriting::{with_halves, with_random_access};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().to_owned()
}

#[test]
fn nearly_all_operations_are_proven() {
    let mut total = pushmem_arithmetic::Arithmetic::default();
    let mut files: Vec<PathBuf> = ["apps", "rtl-tests/mutants/programs"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml"))
        .collect();
    files.sort();
    for path in files {
        let document = Document::parse(path.to_string_lossy(), &std::fs::read_to_string(&path).unwrap()).unwrap();
        let Ok(read) = Program::from_document(&document) else { continue };
        let (program, _) = with_random_access(read.program).unwrap();
        let (program, _) = with_halves(program).unwrap();
        let memories = TableMemories { logic_words: 64, latency: 1 };
        let datapaths: Vec<Datapath> =
            DatapathGraph::all(&program).map(|graph| graph.pipelined(&DedicatedOperators, memories).unwrap()).collect();
        let begin = std::time::Instant::now();
        let found = prove_arithmetic(&program, &datapaths);
        println!("{:30} {:?} {:?}", path.file_stem().unwrap().to_string_lossy(), begin.elapsed(), found);
        let found = found.unwrap();
        total.normal_forms += found.normal_forms;
        total.exhaustive += found.exhaustive;
        total.compared += found.compared;
    }
    println!("{total:?}");
    assert!(total.compared * 50 <= total.proven(), "{total:?}");
}

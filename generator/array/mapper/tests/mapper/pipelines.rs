//! Programs that become another pipeline, or take another array, than the first choice.

use pushmem_bitstream::decode;
use pushmem_compiler::Pipeline;
use pushmem_files::Document;
use pushmem_mapper::{ArrayTarget, Edited};
use pushmem_nest::Program;

use crate::common::{app, array, built, is_right, mapped};

/// The last rows of an image: in a scan of all of it, they leave after 65536 cycles.
fn foot(schedule: &str) -> Program {
    let text = format!(
        "name: foot
{schedule}
inputs: {{input: {{type: u16, shape: [300, 300]}}}}
outputs: {{output: {{type: u16, shape: [300, 4]}}}}
nest:
  - for y in 0..4:
    - for x in 0..300:
      - output[x, y] = input[x, y + 296] * 2
"
    );
    Program::from_document(&Document::parse("foot.yaml", text).unwrap()).unwrap().program
}

/// The streams of a scan that an array does not serve are a reason for nests, as a stage that no scan serves is one.
#[test]
fn nests_run_where_an_array_does_not_serve_the_scan() {
    let target = ArrayTarget::new(array("amber"));
    let program = foot("");
    let (compiled, mapped) = mapped(&program, &target).unwrap();
    let refused = compiled.no_scan.as_ref().unwrap().to_string();
    assert!(refused.contains("start 88802 is not from 0 to 65535"), "{refused}");
    assert_eq!((compiled.pipeline(), compiled.graph.length), (Pipeline::Nests, 1200));
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
    assert!(is_right(&compiled, &mapped, &configuration, &target));
    // Edited stages are those of the nests.
    let text = mapped.lowered.netlist.to_yaml(&target.spec);
    let netlist = Some(Document::parse("netlist.yaml", text).unwrap());
    let (again, same) = built(&program, &target, &Edited { netlist, ..Edited::default() }).unwrap();
    assert_eq!((again.pipeline(), same.bitstream), (Pipeline::Nests, mapped.bitstream));
}

#[test]
fn a_long_schedule_has_an_array() {
    let program = foot("schedule: stencil");
    let refused = mapped(&program, &ArrayTarget::new(array("amber"))).unwrap_err().to_string();
    assert!(refused.contains("start 88802 is not from 0 to 65535"), "{refused}");
    let target = ArrayTarget::new(array("amber_long"));
    let (compiled, mapped) = mapped(&program, &target).unwrap();
    assert_eq!((compiled.pipeline(), compiled.graph.length), (Pipeline::Chosen, 90_000));
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
    assert!(is_right(&compiled, &mapped, &configuration, &target));
}

/// A scan takes eight cycles a pixel, as many as the loop of a recurrence; nests go through the rows at once, which do not depend on each
/// other.
#[test]
fn nests_run_where_a_recurrence_is_long() {
    let target = ArrayTarget::new(array("amber"));
    let (compiled, mapped) = mapped(&app("iir_rows"), &target).unwrap();
    assert_eq!(compiled.pipeline(), Pipeline::Nests);
    assert!(compiled.graph.length < 8500, "{}", compiled.graph.length);
    let configuration = decode(&mapped.bitstream, &target.spec, &target.graph).unwrap();
    assert!(is_right(&compiled, &mapped, &configuration, &target));
}

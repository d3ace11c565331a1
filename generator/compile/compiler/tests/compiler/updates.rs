//! Reads beside updates of the same array, in one loop.

use pushmem_compiler::CompileError;

use crate::common::{compare, compiled, program, try_compile};

/// A pipeline that updates an array in the loop in which another operation reads it, so many elements further.
fn reading_ahead(schedule: &str, ahead: i64) -> pushmem_nest::Program {
    program(&format!(
        "name: ahead
schedule: {schedule}
inputs: {{input: {{type: u16, shape: [9]}}}}
outputs: {{output: {{type: u16, shape: [8]}}}}
buffers: {{a: {{type: u16, shape: [9]}}}}
nest:
  - for x in 0..9:
    - a[x] = input[x] + 3
  - for x in 0..8:
    - a[x] = a[x] + 1
    - output[x] = a[x + {ahead}] * 2
"
    ))
}

/// It must have the value before the update. An image pipeline took that after it, and the proof agreed.
#[test]
fn what_is_updated_later_is_no_value_of_an_image_pipeline() {
    match try_compile(reading_ahead("stencil", 1), "amber") {
        Err(CompileError::Fault(fault)) => panic!("{fault:?}"),
        Err(refused) => assert!(refused.to_string().contains("writes only later"), "{refused}"),
        Ok(compiled) => panic!("{:?}", compiled.proof),
    }
    compare(&compiled(reading_ahead("stencil", 0), "amber"));
    compare(&compiled(reading_ahead("dnn", 1), "amber"));
}

//! Ways to write one program.

use std::collections::BTreeMap;

use pushmem_files::Document;
use pushmem_nest::Program;

use crate::common::random_inputs;

fn read(text: &str) -> Program {
    Program::from_document(&Document::parse("p.yaml", text).unwrap()).unwrap().program
}

#[test]
fn constants_and_steps_are_what_they_stand_for() {
    let short = "
name: p
constants: {W: 12, H: W / 2, OFFSET: 3}
inputs: {input: {type: u16, shape: [W + 3, H], min: [-OFFSET, 0]}}
outputs: {output: {type: u16, shape: [W / 3, H]}}
nest:
  - for y in 0..H:
    - for x in 0..W step 3 unroll 2:
      - output[x/3, y] = input[x - OFFSET, y] * OFFSET + t: {where: {t: 'input[x, y] + x as u16'}}
";
    let long = "
name: p
inputs: {input: {type: u16, shape: [15, 6], min: [-3, 0]}}
outputs: {output: {type: u16, shape: [4, 6]}}
nest:
  - for y in 0..6:
    - for x in 0..4 unroll 2:
      - output[x, y] = input[3*x - 3, y] * 3 + t: {where: {t: 'input[3*x, y] + (3*x) as u16'}}
";
    let [short, long] = [short, long].map(read);
    let inputs = random_inputs(&long, 1, 65535);
    assert_eq!(short.run(&inputs).unwrap(), long.run(&inputs).unwrap());
    assert_eq!(short.to_string().replace("0 + ", ""), long.to_string());
    let from_seven = read(
        "
name: p
outputs: {output: {type: i32, shape: [4]}}
nest:
  - for x in 7..19 step 3:
    - output[(x - 7) / 3] = x
",
    );
    assert_eq!(from_seven.run(&BTreeMap::new()).unwrap()["output"].values().to_vec(), [7, 10, 13, 16]);
}

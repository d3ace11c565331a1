// Assertions: the promises that modules rely on, each with its message.
//
// Synthesis sees none of them. With `PUSHMEM_ASSERT_OFF` defined, simulation does not see them either.
`ifndef PUSHMEM_ASSERT_SVH
`define PUSHMEM_ASSERT_SVH

`ifdef SYNTHESIS
`ifndef PUSHMEM_ASSERT_OFF
`define PUSHMEM_ASSERT_OFF
`endif
`endif

// PUSHMEM_ASSERT: `Condition` holds at each edge of `clk_i`. `Message` is the list of arguments of $error, in
// parentheses. PUSHMEM_ASSERT_OUT_OF_RESET: the same, but while `rst_ni` is low. Modules with a synchronous reset
// need it. PUSHMEM_ASSERT_NOW: the same as a statement of a process: `Condition` holds when it is reached.
`ifdef PUSHMEM_ASSERT_OFF
`define PUSHMEM_ASSERT(Label, Condition, Message)
`define PUSHMEM_ASSERT_OUT_OF_RESET(Label, Condition, Message)
`define PUSHMEM_ASSERT_NOW(Label, Condition, Message)
`else
`define PUSHMEM_ASSERT(Label, Condition, Message) \
    Label: assert property (@(posedge clk_i) Condition) else $error Message;
`define PUSHMEM_ASSERT_OUT_OF_RESET(Label, Condition, Message) \
    Label: assert property (@(posedge clk_i) disable iff (!rst_ni) Condition) else $error Message;
`define PUSHMEM_ASSERT_NOW(Label, Condition, Message) \
    Label: assert (Condition) else $error Message;
`endif

`endif

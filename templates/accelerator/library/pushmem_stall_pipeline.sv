// Stall pipeline: registers between the run control, which knows the streams, and the hardware that a stall stops.
//
// Parameters: Latency, the number of registers, at least 1.
// The run control decides Latency cycles ahead whether time goes on. `step_o` and `flush_o` are its `step_i` and
// `flush_i` that much later, so that each begins a cycle at a register, whatever the number of streams before it and
// of flip-flops behind it.
// Timing: `start_i`, `busy_o` and `done_o` are in the time of the hardware. `start_i` asks for a run; while another
// goes on, one is remembered, and more are ignored: `ask_o` is a request that counts. `busy_o` is high during a run,
// `done_o` in its last cycle.
`include "pushmem_assert.svh"

module pushmem_stall_pipeline #(
    parameter int unsigned Latency = 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic start_i,
    output logic busy_o,
    output logic done_o,
    output logic ask_o,
    input  logic flush_i,
    input  logic step_i,
    input  logic done_i,
    output logic flush_o,
    output logic step_o
);
    // The newest is the lowest.
    logic [Latency-1:0] flush_q;
    logic [Latency-1:0] step_q;
    logic [Latency-1:0] done_q;

    // Runs that were asked for and are not over: one that goes on, and one that waits.
    logic [1:0] runs_q;

    always_comb flush_o = flush_q[Latency-1];
    always_comb step_o  = step_q[Latency-1];
    always_comb done_o  = done_q[Latency-1];
    always_comb busy_o  = runs_q != 2'd0;
    always_comb ask_o   = start_i && (runs_q != 2'd2 || done_o);

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            flush_q <= '0;
            step_q  <= '0;
            done_q  <= '0;
            runs_q  <= 2'd0;
        end else begin
            flush_q <= Latency'({flush_q, flush_i});
            step_q  <= Latency'({step_q, step_i});
            done_q  <= Latency'({done_q, done_i});
            runs_q  <= runs_q + {1'b0, ask_o} - {1'b0, done_o};
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Latency == 0) begin : gen_bad_latency
        $error("pushmem_stall_pipeline: Latency is at least 1");
    end

    // Time goes on within runs only.
    `PUSHMEM_ASSERT(a_step_while_busy, step_o !== 1'b1 || busy_o,
        ("%m: a step outside of a run"))
endmodule

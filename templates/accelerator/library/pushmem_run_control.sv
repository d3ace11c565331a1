// Run control: starts runs, and lets time go on when all streams can.
//
// Parameters: Length of a run in cycles; Streams, the number of streams.
// `due_i` tells which streams have a beat in this cycle of the schedule, `ready_i` which of them could pass one: an
// input that has a word, an output that has room. `step_o` is high in the cycles of the schedule: those of a run in
// which no stream that is due has to wait. Nothing advances in other cycles.
// Timing: `start_i` (one cycle) asks for a run; while another goes on, one is remembered, and more are ignored.
// `flush_o` is high in the cycle before cycle 0 of a run: at once when idle, and in the last cycle of a run when
// another is wanted, so that runs follow each other without a gap. `busy_o` is high during a run, `done_o` in its
// last cycle.
`include "pushmem_assert.svh"

module pushmem_run_control #(
    parameter int unsigned Length  = 1,
    parameter int unsigned Streams = 1
) (
    input  logic               clk_i,
    input  logic               rst_ni,
    input  logic               start_i,
    output logic               busy_o,
    output logic               done_o,
    input  logic [Streams-1:0] due_i,
    input  logic [Streams-1:0] ready_i,
    output logic               flush_o,
    output logic               step_o
);
    localparam int unsigned CycleBits = Length > 1 ? $clog2(Length) : 1;

    logic                 busy_q;
    logic                 wanted_q;
    logic [CycleBits-1:0] cycle_q;
    // Whether it is the last. It comes from a register, as all that a flush clears depends on it.
    logic                 is_last_q;

    always_comb busy_o  = busy_q;
    always_comb step_o  = busy_q && (due_i & ~ready_i) == '0;
    always_comb done_o  = step_o && is_last_q;
    always_comb flush_o = (start_i || wanted_q) && (!busy_q || done_o);

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            busy_q   <= 1'b0;
            wanted_q <= 1'b0;
        end else begin
            busy_q   <= flush_o || (busy_q && !done_o);
            // A flush serves the request that waited; one that comes at the same time waits in its place.
            wanted_q <= flush_o ? start_i && wanted_q : start_i || wanted_q;
        end
    end

    always_ff @(posedge clk_i) begin
        if (flush_o) begin
            cycle_q   <= '0;
            is_last_q <= Length == 1;
        end else if (step_o) begin
            cycle_q   <= cycle_q + 1'b1;
            is_last_q <= cycle_q == CycleBits'(Length - 2);
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Length == 0 || Streams == 0) begin : gen_bad_shape
        $error("pushmem_run_control: Length and Streams are at least 1");
    end

    // Streams are due within runs only, or their beats would never pass.
    `PUSHMEM_ASSERT(a_due_while_busy, busy_q !== 1'b0 || due_i == '0,
        ("%m: a stream is due outside of a run: %b", due_i))
endmodule

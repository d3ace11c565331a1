// Run control: starts runs, and lets time go on when all streams can.
//
// Parameters: LENGTH of a run in cycles; STREAMS, the number of streams.
// `due` tells which streams have a beat in this cycle of the schedule, `ready` which of them could pass one: an input
// that has a word, an output that has room. `step` is high in the cycles of the schedule: those of a run in which no
// stream that is due has to wait. Nothing advances in other cycles.
// Timing: `start` (one cycle) asks for a run; while another goes on, one is remembered, and more are ignored. `flush` is
// high in the cycle before cycle 0 of a run: at once when idle, and in the last cycle of a run when another is wanted, so
// that runs follow each other without a gap. `busy` is high during a run, `done` in its last cycle.
module pushmem_run_control #(
    parameter int unsigned LENGTH  = 1,
    parameter int unsigned STREAMS = 1
) (
    input  logic               clk,
    input  logic               rst_n,
    input  logic               start,
    output logic               busy,
    output logic               done,
    input  logic [STREAMS-1:0] due,
    input  logic [STREAMS-1:0] ready,
    output logic               flush,
    output logic               step
);
    localparam int unsigned CYCLE_BITS = LENGTH > 1 ? $clog2(LENGTH) : 1;

    logic                  busy_q;
    logic                  wanted_q;
    logic [CYCLE_BITS-1:0] cycle_q;

    always_comb busy  = busy_q;
    always_comb step  = busy_q && (due & ~ready) == '0;
    always_comb done  = step && cycle_q == CYCLE_BITS'(LENGTH - 1);
    always_comb flush = (start || wanted_q) && (!busy_q || done);

    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            busy_q   <= 1'b0;
            wanted_q <= 1'b0;
        end else begin
            busy_q   <= flush || (busy_q && !done);
            // A flush serves the request that waited; one that comes at the same time waits in its place.
            wanted_q <= flush ? start && wanted_q : start || wanted_q;
        end
    end

    always_ff @(posedge clk) begin
        if (flush) begin
            cycle_q <= '0;
        end else if (step) begin
            cycle_q <= cycle_q + 1'b1;
        end
    end

`ifndef SYNTHESIS
    // Streams are due within runs only, or their beats would never pass.
    a_due_while_busy: assert property (@(posedge clk)
        busy_q !== 1'b0 || due == '0)
        else $error("pushmem_run_control: a stream is due outside of a run: %b", due);
`endif
endmodule

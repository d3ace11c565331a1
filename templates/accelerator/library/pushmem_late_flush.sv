// Late flush: begins the time of tiles that have nothing to do until some cycle of a run. Their controllers then
// count from that cycle, and need not count to it.
//
// Parameters: Cycles of the run before the time of the tiles begins, at least 1.
// Timing: `flush_i` is high in the cycle before a run, `step_i` in each of its cycles in which time goes on.
// `late_flush_o` is high in the last of Cycles such cycles: the next is cycle 0 of the tiles. Idle after reset, and
// after that cycle.
`include "pushmem_assert.svh"

module pushmem_late_flush #(
    parameter int unsigned Cycles = 1
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic flush_i,
    input  logic step_i,
    output logic late_flush_o
);
    localparam int unsigned CountBits = Cycles > 1 ? $clog2(Cycles) : 1;

    // The flush is still to come; cycles to wait before that of it.
    logic                 active_q;
    logic [CountBits-1:0] wait_q;

    always_comb late_flush_o = active_q && step_i && wait_q == '0;

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            active_q <= 1'b0;
        end else begin
            active_q <= flush_i || (active_q && !late_flush_o);
        end
    end

    always_ff @(posedge clk_i) begin
        if (flush_i) begin
            wait_q <= CountBits'(Cycles - 1);
        end else if (step_i && active_q) begin
            wait_q <= wait_q - 1'b1;
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Cycles == 0) begin : gen_bad_cycles
        $error("pushmem_late_flush: Cycles is at least 1");
    end

    // A run is longer than the wait, or the tiles would have missed one.
    `PUSHMEM_ASSERT(a_flush_comes, (flush_i && active_q) !== 1'b1 || late_flush_o,
        ("%m: a run begins before the flush of the one before came"))
endmodule

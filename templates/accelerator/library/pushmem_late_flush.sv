// Late flush: begins the time of tiles that have nothing to do until some cycle of a run. Their controllers then count from
// that cycle, and need not count to it.
//
// Parameters: CYCLES of the run before the time of the tiles begins, at least 1.
// Timing: `flush` is high in the cycle before a run, `step` in each of its cycles in which time goes on. `late_flush` is
// high in the last of CYCLES such cycles: the next is cycle 0 of the tiles. Idle after reset, and after that cycle.
module pushmem_late_flush #(
    parameter int unsigned CYCLES = 1
) (
    input  logic clk,
    input  logic rst_n,
    input  logic flush,
    input  logic step,
    output logic late_flush
);
    localparam int unsigned COUNT_BITS = CYCLES > 1 ? $clog2(CYCLES) : 1;

    // The flush is still to come; cycles to wait before that of it.
    logic                  active_q;
    logic [COUNT_BITS-1:0] wait_q;

    always_comb late_flush = active_q && step && wait_q == '0;

    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            active_q <= 1'b0;
        end else begin
            active_q <= flush || active_q && !late_flush;
        end
    end

    always_ff @(posedge clk) begin
        if (flush) begin
            wait_q <= COUNT_BITS'(CYCLES - 1);
        end else if (step && active_q) begin
            wait_q <= wait_q - 1'b1;
        end
    end

`ifndef SYNTHESIS
    // A run is longer than the wait, or the tiles would have missed one.
    a_flush_comes: assert property (@(posedge clk)
        !(flush && active_q === 1'b1) || late_flush)
        else $error("pushmem_late_flush: a run begins before the flush of the one before came");
`endif
endmodule

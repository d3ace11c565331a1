// Loop counter: the indices of a loop nest whose iterations come at the cycles of an affine schedule. Level 0 is the
// innermost loop.
//
// Parameters: LEVELS of loops; COUNT_BITS, the width of an index; GAP_BITS, the width of START and of a gap;
// EXTENTS, the extent of each level minus one, level 0 lowest; START, the cycle of the first iteration; GAPS, for each
// level, the cycles from one iteration to the next when this level increments and those inside it start over, minus one.
// Timing: the first cycle after `flush` is cycle 0; later cycles come with `step`, and without it nothing changes.
// `steps` is high in the cycle of each iteration. `indices` are those of the current iteration, or between two, of the
// next; after the last they are 0. Idle after reset and after the last iteration.
module pushmem_loop_counter #(
    parameter int unsigned                      LEVELS     = 1,
    parameter int unsigned                      COUNT_BITS = 1,
    parameter int unsigned                      GAP_BITS   = 1,
    parameter logic [(LEVELS * COUNT_BITS)-1:0] EXTENTS    = '0,
    parameter logic [GAP_BITS-1:0]              START      = '0,
    parameter logic [(LEVELS * GAP_BITS)-1:0]   GAPS       = '0
) (
    input  logic                             clk,
    input  logic                             rst_n,
    input  logic                             flush,
    input  logic                             step,
    output logic                             steps,
    output logic [(LEVELS * COUNT_BITS)-1:0] indices
);
    // Iterations are left; cycles to wait for the next one.
    logic                active_q;
    logic [GAP_BITS-1:0] wait_q;
    logic                advance;

    always_comb steps   = active_q && wait_q == '0;
    always_comb advance = steps && step;

    // Levels at their last index; levels inside which all are, which the next iteration changes.
    logic [LEVELS-1:0]   at_last;
    logic [LEVELS-1:0]   changes;
    logic                all_last;
    logic [GAP_BITS-1:0] gap;
    always_comb begin
        all_last = 1'b1;
        gap      = '0;
        for (int level = 0; level < LEVELS; level++) begin
            changes[level] = all_last;
            if (all_last) begin
                gap = GAPS[level * GAP_BITS+:GAP_BITS];
            end
            all_last = all_last && at_last[level];
        end
    end

    for (genvar level = 0; level < LEVELS; level++) begin : g_level
        logic [COUNT_BITS-1:0] index_q;
        always_comb at_last[level]                             = index_q == EXTENTS[level * COUNT_BITS+:COUNT_BITS];
        always_comb indices[level * COUNT_BITS+:COUNT_BITS] = index_q;
        always_ff @(posedge clk) begin
            if (flush || (advance && changes[level] && at_last[level])) begin
                index_q <= '0;
            end else if (advance && changes[level]) begin
                index_q <= index_q + 1'b1;
            end
        end
    end

    always_ff @(posedge clk) begin
        if (flush) begin
            wait_q <= START;
        end else if (advance) begin
            wait_q <= gap;
        end else if (active_q && step) begin
            wait_q <= wait_q - 1'b1;
        end
    end

    // Only this bit needs a reset: the counters mean nothing until the flush that sets it.
    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            active_q <= 1'b0;
        end else if (flush) begin
            active_q <= 1'b1;
        end else if (advance && all_last) begin
            active_q <= 1'b0;
        end
    end

`ifndef SYNTHESIS
    // No index is ever beyond its loop.
    for (genvar level = 0; level < LEVELS; level++) begin : g_range
        a_index_in_range: assert property (@(posedge clk)
            active_q !== 1'b1 || indices[level * COUNT_BITS+:COUNT_BITS] <= EXTENTS[level * COUNT_BITS+:COUNT_BITS])
            else $error("pushmem_loop_counter: the index of level %0d is beyond its loop", level);
    end
`endif
endmodule

// Loop counter: the indices of a loop nest whose iterations come at the cycles of an affine schedule. Level 0 is the
// innermost loop.
//
// Parameters: Levels of loops; CountBits, the width of an index; GapBits, the width of Start and of a gap;
// Extents, the extent of each level minus one, level 0 lowest; Start, the cycle of the first iteration; Gaps, for each
// level, the cycles from one iteration to the next when this level increments and those inside it start over, minus
// one.
// Timing: the first cycle after `flush_i` is cycle 0; later cycles come with `step_i`, and without it nothing changes.
// `steps_o` is high in the cycle of each iteration. `indices_o` are those of the current iteration, or between two,
// of the next; after the last they are 0. Idle after reset and after the last iteration.
`include "pushmem_assert.svh"

module pushmem_loop_counter #(
    parameter int unsigned                      Levels    = 1,
    parameter int unsigned                      CountBits = 1,
    parameter int unsigned                      GapBits   = 1,
    parameter logic [(Levels * CountBits)-1:0] Extents    = '0,
    parameter logic [GapBits-1:0]              Start      = '0,
    parameter logic [(Levels * GapBits)-1:0]   Gaps       = '0
) (
    input  logic                            clk_i,
    input  logic                            rst_ni,
    input  logic                            flush_i,
    input  logic                            step_i,
    output logic                            steps_o,
    output logic [(Levels * CountBits)-1:0] indices_o
);
    // Iterations are left; cycles to wait for the next one.
    logic               active_q;
    logic [GapBits-1:0] wait_q;
    // Whether there is one now. It comes from a register, since streams and all that waits for them depend on it.
    logic               steps_q;
    logic               advance;

    always_comb steps_o = steps_q;
    always_comb advance = steps_q && step_i;

    // Levels at their last index; levels inside which all are, which the next iteration changes.
    logic [Levels-1:0]  at_last;
    logic [Levels-1:0]  changes;
    logic               all_last;
    logic [GapBits-1:0] gap;
    always_comb begin
        all_last = 1'b1;
        gap      = '0;
        for (int unsigned level = 0; level < Levels; level++) begin
            changes[level] = all_last;
            if (all_last) begin
                gap = Gaps[level * GapBits+:GapBits];
            end
            all_last = all_last && at_last[level];
        end
    end

    for (genvar level = 0; level < Levels; level++) begin : gen_level
        logic [CountBits-1:0] index_q;
        always_comb at_last[level]                          = index_q == Extents[level * CountBits+:CountBits];
        always_comb indices_o[level * CountBits+:CountBits] = index_q;
        always_ff @(posedge clk_i) begin
            if (flush_i || (advance && changes[level] && at_last[level])) begin
                index_q <= '0;
            end else if (advance && changes[level]) begin
                index_q <= index_q + 1'b1;
            end
        end
    end

    always_ff @(posedge clk_i) begin
        if (flush_i) begin
            wait_q <= Start;
        end else if (advance) begin
            wait_q <= gap;
        end else if (active_q && step_i) begin
            wait_q <= wait_q - 1'b1;
        end
    end

    // Only these bits need a reset: the counters mean nothing until the flush that sets the first.
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            active_q <= 1'b0;
            steps_q  <= 1'b0;
        end else if (flush_i) begin
            active_q <= 1'b1;
            steps_q  <= Start == '0;
        end else if (step_i) begin
            active_q <= active_q && !(steps_q && all_last);
            steps_q  <= steps_q ? !all_last && gap == '0 : active_q && wait_q == GapBits'(32'd1);
        end
    end

    // Parameters that make no sense end the elaboration.
    if (Levels == 0 || CountBits == 0 || GapBits == 0) begin : gen_bad_shape
        $error("pushmem_loop_counter: Levels, CountBits and GapBits are at least 1");
    end

    // No index is ever beyond its loop.
    for (genvar level = 0; level < Levels; level++) begin : gen_range
        `PUSHMEM_ASSERT(a_index_in_range,
            active_q !== 1'b1 || indices_o[level * CountBits+:CountBits] <= Extents[level * CountBits+:CountBits],
            ("%m: the index of level %0d is beyond its loop", level))
    end
endmodule

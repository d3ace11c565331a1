// Proof of the loop counter, in any pattern of steps, flushes and resets: it steps exactly in the cycles, counted from
// the flush, of the affine schedule START + Σ stride · index, at the points of the loop nest in their order, once each;
// its indices are those of the point that comes next, and 0 after the last. So it steps neither between reset and the first
// flush, nor after the last point.
//
// Extents, start and gaps are parameters of the module: the proof is of some of them.
module loop_counter_proof #(
    parameter int unsigned LEVELS     = 2,
    parameter int unsigned COUNT_BITS = 2,
    parameter int unsigned GAP_BITS   = 3,
    parameter int unsigned TIME_BITS  = 7,
    parameter int unsigned START      = 1,
    // For each level, the extent minus one and the stride, level 0 in the lowest byte.
    parameter int unsigned LASTS      = 32'h0201,
    parameter int unsigned STRIDES    = 32'h0401
) (
    input logic clk,
    input logic rst_n,
    input logic flush,
    input logic step
);
    function automatic logic [LEVELS*COUNT_BITS-1:0] extents();
        for (int level = 0; level < LEVELS; level++) begin
            extents[level*COUNT_BITS +: COUNT_BITS] = COUNT_BITS'(LASTS >> (8 * level));
        end
    endfunction
    function automatic logic [LEVELS*TIME_BITS-1:0] strides();
        for (int level = 0; level < LEVELS; level++) begin
            strides[level*TIME_BITS +: TIME_BITS] = TIME_BITS'((STRIDES >> (8 * level)) & 32'hff);
        end
    endfunction
    // From an iteration to the next, minus one: the stride, less what the levels inside have moved.
    function automatic logic [LEVELS*GAP_BITS-1:0] gaps();
        automatic int unsigned moved = 0;
        for (int level = 0; level < LEVELS; level++) begin
            automatic int unsigned stride = (STRIDES >> (8 * level)) & 32'hff;
            gaps[level*GAP_BITS +: GAP_BITS] = GAP_BITS'(stride - moved - 1);
            moved += stride * ((LASTS >> (8 * level)) & 32'hff);
        end
    endfunction

    logic                         steps;
    logic [LEVELS*COUNT_BITS-1:0] indices;
    pushmem_loop_counter #(
        .LEVELS(LEVELS), .COUNT_BITS(COUNT_BITS), .GAP_BITS(GAP_BITS), .EXTENTS(extents()), .START(GAP_BITS'(START)),
        .GAPS(gaps())
    ) u_loops (
        .clk, .rst_n, .flush, .step, .steps, .indices
    );

    logic                         first_q = 1'b1;
    logic                         flushed_q;
    logic [TIME_BITS-1:0]         time_q;
    logic                         want_active;
    logic                         want_steps;
    logic                         at_end;
    logic [LEVELS*COUNT_BITS-1:0] want_indices;
    logic [LEVELS-1:0]            want_increments;
    logic [TIME_BITS-1:0]         want_cycle;
    logic [LEVELS*TIME_BITS-1:0]  terms;
    logic [LEVELS*TIME_BITS-1:0]  deltas;
    loop_nest_reference #(.LEVELS(LEVELS), .EXTENT_BITS(COUNT_BITS)) u_nest (
        .clk, .rst_n, .flush, .enable(1'b1), .step(want_steps && step), .lasts(extents()),
        .active(want_active), .at_end, .indices(want_indices), .increments(want_increments)
    );
    affine_reference #(.LEVELS(LEVELS), .EXTENT_BITS(COUNT_BITS), .WIDTH(TIME_BITS)) u_affine (
        .indices(want_indices), .lasts(extents()), .start(TIME_BITS'(START)), .strides(strides()), .value(want_cycle),
        .terms, .deltas
    );
    always_comb want_steps = want_active && want_cycle == time_q;
    always_ff @(posedge clk) begin
        first_q <= 1'b0;
        if (flush) time_q <= '0;
        else if (step) time_q <= time_q + 1'b1;
    end
    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) flushed_q <= 1'b0;
        else if (flush) flushed_q <= 1'b1;
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_n && !first_q) begin
            assert (u_loops.active_q == want_active);
            assert (flushed_q || !want_active);
            if (!want_active) assert (want_indices == '0);
            for (int level = 0; level < LEVELS; level++) begin
                assert (want_indices[level*COUNT_BITS +: COUNT_BITS] <= COUNT_BITS'(LASTS >> (8 * level)));
            end
            if (want_active) begin
                // The schedule fits into the bits of the time: it does not come round.
                assert (want_cycle >= time_q);
                assert (u_loops.wait_q == want_cycle - time_q);
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_n));
        if (rst_n && !first_q) begin
            assert (steps == want_steps);
            if (flushed_q) assert (indices == want_indices);
        end
    end
endmodule

// Proof of the loop counter, in any pattern of steps, flushes and resets: it steps exactly in the cycles, counted from
// the flush, of the affine schedule Start + Σ stride · index, at the points of the loop nest in their order, once each;
// its indices are those of the point that comes next, and 0 after the last. So it steps neither between reset and the first
// flush, nor after the last point.
//
// Extents, start and gaps are parameters of the module: the proof is of some of them.
module loop_counter_proof #(
    parameter int unsigned Levels     = 2,
    parameter int unsigned CountBits = 2,
    parameter int unsigned GapBits   = 3,
    parameter int unsigned TimeBits  = 7,
    parameter int unsigned Start      = 1,
    // For each level, the extent minus one and the stride, level 0 in the lowest byte.
    parameter int unsigned Lasts      = 32'h0201,
    parameter int unsigned Strides    = 32'h0401
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic step_i
);
    function automatic logic [Levels*CountBits-1:0] extents();
        for (int level = 0; level < Levels; level++) begin
            extents[level*CountBits +: CountBits] = CountBits'(Lasts >> (8 * level));
        end
    endfunction
    function automatic logic [Levels*TimeBits-1:0] strides();
        for (int level = 0; level < Levels; level++) begin
            strides[level*TimeBits +: TimeBits] = TimeBits'((Strides >> (8 * level)) & 32'hff);
        end
    endfunction
    // From an iteration to the next, minus one: the stride, less what the levels inside have moved.
    function automatic logic [Levels*GapBits-1:0] gaps();
        automatic int unsigned moved = 0;
        for (int level = 0; level < Levels; level++) begin
            automatic int unsigned stride = (Strides >> (8 * level)) & 32'hff;
            gaps[level*GapBits +: GapBits] = GapBits'(stride - moved - 1);
            moved += stride * ((Lasts >> (8 * level)) & 32'hff);
        end
    endfunction

    logic                         steps;
    logic [Levels*CountBits-1:0] indices;
    pushmem_loop_counter #(
        .Levels(Levels), .CountBits(CountBits), .GapBits(GapBits), .Extents(extents()), .Start(GapBits'(Start)),
        .Gaps(gaps())
    ) u_loops (
        .clk_i, .rst_ni, .flush_i, .step_i, .steps_o(steps), .indices_o(indices)
    );

    logic                         first_q = 1'b1;
    logic                         flushed_q;
    logic [TimeBits-1:0]         time_q;
    logic                         want_active;
    logic                         want_steps;
    logic                         at_end;
    logic [Levels*CountBits-1:0] want_indices;
    logic [Levels-1:0]            want_increments;
    logic [TimeBits-1:0]         want_cycle;
    logic [Levels*TimeBits-1:0]  terms;
    logic [Levels*TimeBits-1:0]  deltas;
    loop_nest_reference #(.Levels(Levels), .ExtentBits(CountBits)) u_nest (
        .clk_i, .rst_ni, .flush_i, .enable_i(1'b1), .step_i(want_steps && step_i), .lasts_i(extents()),
        .active_o(want_active), .at_end_o(at_end), .indices_o(want_indices), .increments_o(want_increments)
    );
    affine_reference #(.Levels(Levels), .ExtentBits(CountBits), .Width(TimeBits)) u_affine (
        .indices_i(want_indices), .lasts_i(extents()), .start_i(TimeBits'(Start)), .strides_i(strides()), .value_o(want_cycle),
        .terms_o(terms), .deltas_o(deltas)
    );
    always_comb want_steps = want_active && want_cycle == time_q;
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (flush_i) time_q <= '0;
        else if (step_i) time_q <= time_q + 1'b1;
    end
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) flushed_q <= 1'b0;
        else if (flush_i) flushed_q <= 1'b1;
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (rst_ni && !first_q) begin
            assert (u_loops.active_q == want_active);
            assert (u_loops.steps_q == want_steps);
            assert (flushed_q || !want_active);
            if (!want_active) assert (want_indices == '0);
            for (int level = 0; level < Levels; level++) begin
                assert (want_indices[level*CountBits +: CountBits] <= CountBits'(Lasts >> (8 * level)));
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
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            assert (steps == want_steps);
            if (flushed_q) assert (indices == want_indices);
        end
    end
endmodule

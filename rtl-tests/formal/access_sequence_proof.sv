// Proof of the access sequence, in any pattern of steps, flushes and resets: it has an access exactly in the cycles, counted
// from the flush, of the affine schedule Start + Σ stride · index, at the points of the loop nest in their order, once each;
// its address is First + Σ address stride · index of that point, modulo Words. So it has none between reset and the first flush,
// nor after the last point.
//
// Extents, start, gaps and addresses are parameters of the module: the proof is of some of them.
module access_sequence_proof #(
    parameter int unsigned Levels     = 2,
    parameter int unsigned CountBits = 2,
    parameter int unsigned GapBits   = 3,
    parameter int unsigned TimeBits  = 7,
    parameter int unsigned Start      = 1,
    // For each level, the extent minus one and the stride, level 0 in the lowest byte.
    parameter int unsigned Lasts      = 32'h0201,
    parameter int unsigned Strides    = 32'h0401,
    parameter int unsigned Words      = 5,
    parameter int unsigned First      = 0,
    // For each level what is added to the address when its index is, modulo Words, level 0 in the lowest byte.
    parameter int unsigned Moves      = 32'h0301,
    parameter int unsigned Wraps      = 1,
    localparam int unsigned AddressBits = $clog2(Words)
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

    // From an access to the next: the move, less those of the levels inside, modulo what the adder wraps at.
    localparam int unsigned Modulus = Wraps != 0 ? Words : 2 ** AddressBits;
    function automatic logic [Levels*AddressBits-1:0] deltas_of_addresses();
        automatic int unsigned moved = 0;
        for (int level = 0; level < Levels; level++) begin
            automatic int unsigned move = (Moves >> (8 * level)) & 32'hff;
            deltas_of_addresses[level*AddressBits +: AddressBits] =
                AddressBits'((move + Modulus * 256 - (moved % Modulus)) % Modulus);
            moved += move * ((Lasts >> (8 * level)) & 32'hff);
        end
    endfunction

    logic                   steps;
    logic [AddressBits-1:0] address;
    logic                   accessed;
    pushmem_access_sequence #(
        .Levels(Levels), .CountBits(CountBits), .GapBits(GapBits), .Words(Words), .Extents(extents()),
        .Start(GapBits'(Start)), .Gaps(gaps()), .First(AddressBits'(First)), .Deltas(deltas_of_addresses()),
        .Wraps(1'(Wraps))
    ) u_loops (
        .clk_i, .rst_ni, .flush_i, .step_i, .access_o(steps), .address_o(address), .accessed_o(accessed)
    );

    // The indices inside of the module.
    logic [Levels*CountBits-1:0] indices;
    for (genvar level = 0; level < Levels; level++) begin : gen_indices
        always_comb indices[level*CountBits +: CountBits] = u_loops.gen_level[level].index_q;
    end

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

    // The address of the point that comes next.
    logic [31:0] want_sum;
    logic [31:0] want_address;
    always_comb begin
        want_sum = First;
        for (int level = 0; level < Levels; level++) begin
            want_sum += ((Moves >> (8 * level)) & 32'hff) * 32'(want_indices[level*CountBits +: CountBits]);
        end
        want_address = want_sum % Modulus;
    end
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
            assert (u_loops.access_q == want_steps);
            assert (flushed_q || !want_active);
            if (!want_active) assert (want_indices == '0);
            for (int level = 0; level < Levels; level++) begin
                assert (want_indices[level*CountBits +: CountBits] <= CountBits'(Lasts >> (8 * level)));
            end
            if (want_active) begin
                // The schedule fits into the bits of the time: it does not come round.
                assert (want_cycle >= time_q);
                assert (u_loops.wait_q == want_cycle - time_q);
                assert (32'(u_loops.address_q) == want_address);
                for (int level = 0; level < Levels; level++) begin
                    assert (indices[level*CountBits +: CountBits] == want_indices[level*CountBits +: CountBits]);
                end
            end
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            assert (steps == want_steps);
            if (steps) assert (32'(address) == want_address);
            if (steps && Wraps == 0) assert (want_sum < Words);
        end
    end
endmodule

// Proof of the access sequence, in any pattern of steps, flushes and resets: its accesses are the steps of a loop counter, of which
// there is a proof of its own, and the address of each is First + Σ move · index, modulo Words.
//
// Extents, gaps and addresses are parameters of the module: the proof is of some of them.
module access_sequence_proof #(
    parameter int unsigned Levels    = 2,
    parameter int unsigned CountBits = 2,
    // For each level, the extent minus one and what it adds to the address, level 0 in the lowest byte.
    parameter int unsigned Lasts     = 32'h0201,
    parameter int unsigned Moves     = 32'h0301,
    parameter int unsigned Words     = 5,
    parameter int unsigned First     = 0,
    parameter int unsigned Wraps     = 1,
    localparam int unsigned AddressBits = $clog2(Words),
    localparam int unsigned GapBits     = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic step_i
);
    function automatic int unsigned byte_of(input int unsigned bytes, input int unsigned level);
        byte_of = (bytes >> (8 * level)) & 32'hff;
    endfunction
    function automatic logic [Levels*CountBits-1:0] extents();
        for (int level = 0; level < Levels; level++) extents[level*CountBits +: CountBits] = CountBits'(byte_of(Lasts, level));
    endfunction
    // From an access to the next: the move, less those of the levels inside, modulo what the adder wraps at.
    localparam int unsigned Modulus = Wraps != 0 ? Words : 2 ** AddressBits;
    function automatic logic [Levels*AddressBits-1:0] deltas();
        automatic int unsigned moved = 0;
        for (int level = 0; level < Levels; level++) begin
            deltas[level*AddressBits +: AddressBits] =
                AddressBits'((byte_of(Moves, level) + Modulus * 256 - (moved % Modulus)) % Modulus);
            moved += byte_of(Moves, level) * byte_of(Lasts, level);
        end
    endfunction

    logic                   access;
    logic [AddressBits-1:0] address;
    logic                   accessed;
    pushmem_access_sequence #(
        .Levels(Levels), .CountBits(CountBits), .GapBits(GapBits), .Words(Words), .Extents(extents()), .Start(2'd1),
        .Gaps({Levels{2'd1}}), .First(AddressBits'(First)), .Deltas(deltas()), .Wraps(1'(Wraps))
    ) u_sequence (
        .clk_i, .rst_ni, .flush_i, .step_i, .access_o(access), .address_o(address), .accessed_o(accessed)
    );

    // Reset in the first cycle; what was flushed since, and whether there was an access in the last step.
    logic first_q = 1'b1;
    logic accessed_q;
    always_ff @(posedge clk_i) first_q <= 1'b0;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) accessed_q <= 1'b0;
        else if (step_i) accessed_q <= access;
    end

    // The address of the indices that come next.
    logic [31:0] sum;
    logic        in_range;
    always_comb begin
        sum      = First;
        in_range = 1'b1;
        for (int level = 0; level < Levels; level++) begin
            sum += byte_of(Moves, level) * 32'(u_sequence.indices[level*CountBits +: CountBits]);
            in_range = in_range && u_sequence.indices[level*CountBits +: CountBits] <= CountBits'(byte_of(Lasts, level));
        end
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (rst_ni && !first_q) begin
            assert (access == u_sequence.u_loops.steps_o);
            assert (accessed == accessed_q);
            // Helping invariants make the proof inductive.
            assert (!access || u_sequence.u_loops.active_q);
            if (u_sequence.u_loops.active_q) assert (in_range && 32'(address) == sum % Modulus);
            if (access && Wraps == 0) assert (sum < Words);
        end
    end
endmodule

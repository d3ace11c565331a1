// Proof of the load DMA of a bank, for any loop nest, however its stream and the store DMA wait, and for any place in the half: where the loop nest
// names it, the word that is offered is the one there, in the cycle after the schedule, and stays until it is taken. A row is read again only
// when another one was read between, or it was written.
module bank_load_proof #(
    parameter int unsigned AddressBits = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic clear_i,
    input logic grant_i,
    input logic hold_i,
    input logic written_i,
    input logic [AddressBits-2:0] written_row_i,
    input logic ready_i,
    input logic [1:0] extents_i,
    input logic start_i,
    input logic gaps_i,
    input logic [AddressBits-1:0] address_start_i,
    input logic [AddressBits-1:0] deltas_i,
    input logic [AddressBits-1:0] place_i,
    input logic content_i,
    input logic [1:0] others_i
);
    logic read;
    logic [AddressBits-2:0] row;
    logic [1:0] words;
    logic valid;
    logic word;
    logic busy;
    pushmem_bank_load #(
        .Levels(1), .ExtentBits(2), .CycleBits(1), .AddressBits(AddressBits), .WordBits(1), .Words(2)
    ) u_load (
        .clk_i, .rst_ni, .flush_i, .clear_i, .enable_i(1'b1), .extents_i, .cycle_start_i(start_i), .gaps_i, .address_start_i,
        .deltas_i, .grant_i, .hold_i, .read_o(read), .row_o(row), .words_i(words), .written_i, .written_row_i, .due_o(), .wants_o(),
        .free_o(), .valid_o(valid), .word_o(word), .ready_i, .busy_o(busy)
    );

    // The place and its word stay the same. The row that the SRAM shows; of other places it has any words.
    logic                   first_q = 1'b1;
    logic [AddressBits-1:0] place_q;
    logic                   content_q;
    logic [AddressBits-2:0] shown_q;
    logic                   shows;
    always_ff @(posedge clk_i) begin
        first_q   <= 1'b0;
        place_q   <= place_i;
        content_q <= content_i;
        if (read) shown_q <= row;
    end
    always_comb begin
        shows = shown_q == place_i[AddressBits-1:1];
        words = others_i;
        if (shows) words[place_i[0]] = content_i;
    end

    // The address of the word that is offered, and whether one was offered in the cycle before and not taken.
    logic [AddressBits-1:0] offered_q;
    logic [AddressBits-1:0] waiting_q;
    logic                   waits_q;
    // Whether the row that the SRAM shows was written in the cycle before.
    logic                   stale_q;
    always_ff @(posedge clk_i) begin
        stale_q <= written_i && written_row_i == u_load.row_q && !u_load.fetch;
        if (u_load.fetch) offered_q <= u_load.address;
        waiting_q <= offered_q;
    end
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) waits_q <= 1'b0;
        else waits_q <= valid && !ready_i && !flush_i && !clear_i;
    end

    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (!first_q) assume (place_i == place_q && content_i == content_q);
        if (rst_ni && !first_q) begin
            if (u_load.has_row_q || valid) assert (u_load.row_q == shown_q);
            if (stale_q) assert (!u_load.has_row_q);
            if (valid) assert ({u_load.row_q, u_load.lane_q} == offered_q);
            if (valid && offered_q == place_i) assert (word == content_i);
            if (waits_q) assert (valid && offered_q == waiting_q);
            if (read && u_load.has_row_q) assert (row != shown_q);
            if (u_load.fetch) assert (grant_i && !hold_i && (!valid || ready_i));
            if (valid) assert (busy);
        end
    end
endmodule

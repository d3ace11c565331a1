// Proof of the store DMA of a bank, for any loop nest, however its stream and the load wait, and for any place in the half: the word there is
// the last one that was taken for it, unless that is still gathered. After the run nothing is. No word is taken while the store is held, and
// gathered words are written when they are to be first.
module bank_store_proof #(
    parameter int unsigned AddressBits = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic clear_i,
    input logic grant_i,
    input logic hold_i,
    input logic first_i,
    input logic wait_i,
    input logic valid_i,
    input logic word_i,
    input logic [1:0] extents_i,
    input logic start_i,
    input logic gaps_i,
    input logic [AddressBits-1:0] address_start_i,
    input logic [AddressBits-1:0] deltas_i,
    input logic [AddressBits-1:0] place_i
);
    logic [1:0] write;
    logic [AddressBits-2:0] row;
    logic [1:0] words;
    logic gathers;
    logic ready;
    logic busy;
    pushmem_bank_store #(
        .Levels(1), .ExtentBits(2), .CycleBits(1), .AddressBits(AddressBits), .WordBits(1), .Words(2)
    ) u_store (
        .clk_i, .rst_ni, .flush_i, .clear_i, .enable_i(1'b1), .extents_i, .cycle_start_i(start_i), .gaps_i, .address_start_i,
        .deltas_i, .grant_i, .hold_i, .first_i, .wait_i, .write_o(write), .row_o(row), .words_o(words), .gathers_o(gathers), .needs_o(),
        .lacks_o(), .valid_i, .word_i, .ready_o(ready), .busy_o(busy)
    );

    // The place stays the same. Whether a word was taken for it in this run, the last one, and the word that is there.
    logic                   first_q = 1'b1;
    logic [AddressBits-1:0] place_q;
    logic                   taken_q;
    logic                   last_q;
    logic                   word_q;
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        place_q <= place_i;
    end
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) taken_q <= 1'b0;
        else if (flush_i || clear_i) taken_q <= 1'b0;
        else if (valid_i && ready && u_store.address == place_i) taken_q <= 1'b1;
    end
    always_ff @(posedge clk_i) begin
        if (valid_i && ready && u_store.address == place_i) last_q <= word_i;
        if (!wait_i && write[place_i[0]] && row == place_i[AddressBits-1:1]) word_q <= words[place_i[0]];
    end

    logic gathered;
    always_comb gathered = u_store.gathered_q[place_i[0]] && u_store.row_q == place_i[AddressBits-1:1];
    always_comb begin
        // Everything is unknown until a reset.
        assume (!(first_q && rst_ni));
        if (!first_q) assume (place_i == place_q);
        if (rst_ni && !first_q) begin
            if (hold_i) assert (!ready);
            if (first_i && gathers && !wait_i) assert (write != '0);
        end
        if (rst_ni && !first_q && taken_q) begin
            if (gathered) assert (u_store.words_q[place_i[0]] == last_q);
            else assert (word_q == last_q);
            if (!busy) assert (word_q == last_q);
        end
    end
endmodule

// Proof of the control of a RAM: with a memory of rows around it, a read shows the word that was written last at its address,
// whatever accesses, stalls and flushes there are; the memory has one access in a cycle; and no output of a handshake depends on an
// input of the same cycle.
module ram_control_proof #(
    parameter  int unsigned Lanes       = 2,
    parameter  int unsigned WordBits    = 2,
    localparam int unsigned AddressBits = 1,
    localparam int unsigned LaneBits    = Lanes > 1 ? $clog2(Lanes) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic flush_i,
    input logic stall_i,
    input logic enable_i,
    input logic valid_i,
    input logic write_i,

    input logic [AddressBits-1:0] row_i,
    input logic [LaneBits-1:0]    lane_i,
    input logic [WordBits-1:0]    word_i,
    // The place that is watched: any.
    input logic [AddressBits-1:0] watched_row_i,
    input logic [LaneBits-1:0]    watched_lane_i
);
    logic ready, accessed, reads, store;
    logic [AddressBits-1:0]    store_row;
    logic [Lanes*WordBits-1:0] store_data;
    logic [Lanes*WordBits-1:0] row_q;
    logic [Lanes*WordBits-1:0] rows_q [2**AddressBits];
    pushmem_ram_control #(.AddressBits(AddressBits), .Lanes(Lanes), .WordBits(WordBits)) u_control (
        .clk_i, .rst_ni, .flush_i, .stall_i, .enable_i, .valid_i, .ready_o(ready), .write_i, .row_i, .lane_i, .word_i,
        .access_o(accessed), .read_o(reads), .sram_row_i(row_q), .store_o(store), .store_row_o(store_row), .store_data_o(store_data)
    );

    logic first_q = 1'b1;
    always_ff @(posedge clk_i) begin
        first_q <= 1'b0;
        if (!stall_i) begin
            if (store) rows_q[store_row] <= store_data;
            if (accessed) row_q <= rows_q[row_i];
        end
    end

    // The watched place stays the same.
    logic [AddressBits-1:0] watched_row_q;
    logic [LaneBits-1:0]    watched_lane_q;
    always_ff @(posedge clk_i) begin
        watched_row_q  <= watched_row_i;
        watched_lane_q <= watched_lane_i;
    end
    always_comb begin
        assume (!(first_q && rst_ni));
        assume (32'(watched_lane_i) < Lanes && 32'(lane_i) < Lanes);
        if (!first_q) assume (watched_row_i == watched_row_q && watched_lane_i == watched_lane_q);
    end

    // The word that was written there last, and whether there is one; whether it is being stored; whether it was read in the last cycle. A
    // flush drops a write in its first cycle, and the place is unknown until the next.
    logic                here, written_q, storing_q, read_q;
    logic [WordBits-1:0] word_q;
    always_comb here = row_i == watched_row_i && lane_i == watched_lane_i;
    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            written_q <= 1'b0;
            storing_q <= 1'b0;
            read_q    <= 1'b0;
        end else if (flush_i) begin
            written_q <= written_q && !(storing_q && stall_i) && !(accessed && write_i && here);
            storing_q <= 1'b0;
            read_q    <= 1'b0;
        end else if (!stall_i) begin
            written_q <= written_q || accessed && write_i && here;
            storing_q <= accessed && write_i && here;
            read_q    <= reads && here;
        end
    end
    always_ff @(posedge clk_i) begin
        if (!stall_i && accessed && write_i && here) word_q <= word_i;
    end

    always_comb begin
        if (rst_ni && !first_q) begin
            if (!u_control.active_q) assert (!ready);
            assert (!(store && accessed));
            // Helping invariants.
            if (storing_q) begin
                assert (store && store_row == watched_row_i && u_control.lane_q == watched_lane_i && u_control.word_q == word_q);
            end else if (written_q) begin
                assert (rows_q[watched_row_i][32'(watched_lane_i)*WordBits+:WordBits] == word_q);
            end
            if (store && store_row == watched_row_i) assert (row_q == rows_q[watched_row_i]);
            // The word that a read shows.
            if (read_q && written_q) assert (row_q[32'(watched_lane_i)*WordBits+:WordBits] == word_q);
            if (store && store_row == watched_row_i && u_control.lane_q == watched_lane_i) assert (storing_q);
        end
    end
endmodule

// Proof of the memory that is made for a program: in any pattern of steps, writes and reads, it shows the word that was at the address
// of the last read before that step, once that word was written. With Apart, no word is read while it is written.
module fixed_memory_proof #(
    parameter  int unsigned Width       = 2,
    parameter  int unsigned Words       = 3,
    parameter  int unsigned Apart       = 0,
    localparam int unsigned AddressBits = $clog2(Words)
) (
    input logic clk_i,
    input logic step_i,
    input logic write_i,
    input logic read_i,

    input logic [AddressBits-1:0] write_address_i,
    input logic [AddressBits-1:0] read_address_i,
    input logic [Width-1:0]       write_data_i,
    // The word that is watched: any.
    input logic [AddressBits-1:0] watched_i
);
    logic [Width-1:0] read_data;
    pushmem_fixed_memory #(.Width(Width), .Words(Words), .Apart(1'(Apart))) u_memory (
        .clk_i, .step_i, .write_i, .write_address_i, .write_data_i, .read_i, .read_address_i, .read_data_o(read_data)
    );

    logic started_q = 1'b0;
    logic [AddressBits-1:0] watched_q;
    always_ff @(posedge clk_i) started_q <= 1'b1;
    always_ff @(posedge clk_i) watched_q <= watched_i;
    always_comb begin
        assume (watched_i < Words && write_address_i < Words && read_address_i < Words);
        if (started_q) assume (watched_i == watched_q);
        if (Apart != 0) assume (!(write_i && read_i) || write_address_i != read_address_i);
    end

    // The watched word, and whether it was written; the one that a read of it found.
    logic             written_q = 1'b0;
    logic             shown_q   = 1'b0;
    logic [Width-1:0] word_q;
    logic [Width-1:0] found_q;
    always_ff @(posedge clk_i) begin
        if (step_i && write_i && write_address_i == watched_i) begin
            written_q <= 1'b1;
            word_q    <= write_data_i;
        end
        if (step_i && read_i) begin
            shown_q <= read_address_i == watched_i && written_q;
            found_q <= word_q;
        end
    end

    always_comb begin
        if (!started_q) assert (!written_q && !shown_q);
        if (shown_q) assert (read_data == found_q);
    end
    // Helping invariants make the proof inductive.
    if (Apart != 0) begin : gen_apart
        always_comb if (written_q) assert (u_memory.gen_apart.words[watched_i] == word_q);
    end else begin : gen_read_first
        always_comb if (written_q) assert (u_memory.gen_read_first.words[watched_i] == word_q);
    end
endmodule

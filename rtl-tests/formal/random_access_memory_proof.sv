// Proof of the random-access memory: in any pattern of steps, writes and reads, a port shows the element at the address of the
// last step with all writes up to the cycle in which it is shown, once that element was written.
module random_access_memory_proof #(
    parameter  int unsigned Width       = 2,
    parameter  int unsigned Words       = 3,
    parameter  int unsigned Reads       = 2,
    localparam int unsigned AddressBits = Words > 1 ? $clog2(Words) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic step_i,
    input logic write_i,

    input logic [15:0]                    write_address_i,
    input logic [Width-1:0]               write_element_i,
    input logic [(Reads*AddressBits)-1:0] read_address_i,
    // The element that is watched: any.
    input logic [AddressBits-1:0]         watched_i
);
    logic [(Reads*Width)-1:0] element;
    pushmem_random_access_memory #(.Width(Width), .Words(Words), .Reads(Reads)) u_memory (
        .clk_i, .rst_ni, .step_i, .write_i, .write_address_i, .write_element_i, .read_address_i, .element_o(element)
    );

    // Reset in the first cycle, and addresses of words that there are.
    logic started_q = 1'b0;
    logic [AddressBits-1:0] watched_q;
    always_ff @(posedge clk_i) started_q <= 1'b1;
    always_ff @(posedge clk_i) watched_q <= watched_i;
    always_comb begin
        assume (rst_ni == started_q);
        assume (!write_i || write_address_i < 16'(Words));
        assume (watched_i < Words);
        if (started_q) assume (watched_i == watched_q);
        if (!started_q) assume (!write_i);
    end

    // The watched element behind the last step, and whether it was written.
    logic             written_q = 1'b0;
    logic [Width-1:0] word_q;
    logic             writes;
    always_comb writes = write_i && write_address_i == 16'(watched_i);
    always_ff @(posedge clk_i) begin
        if (started_q && step_i && writes) begin
            written_q <= 1'b1;
            word_q    <= write_element_i;
        end
    end

    // The note of the last write, of the watched element.
    logic recent;
    always_comb recent = u_memory.recent_q && u_memory.recent_address_q == watched_i;
    always_comb begin
        if (started_q && recent) assert (written_q && u_memory.recent_element_q == word_q);
        if (!started_q) assert (!written_q);
    end

    for (genvar read = 0; read < Reads; read++) begin : gen_read
        logic asked_q = 1'b0;
        always_ff @(posedge clk_i) begin
            if (started_q && step_i) begin
                asked_q <= read_address_i[read*AddressBits+:AddressBits] == watched_i;
            end
        end
        always_comb begin
            // The memory has it, and so has the register behind it, unless it was written in the cycle of the read.
            if (written_q) assert (u_memory.gen_read[read].words[watched_i] == word_q);
            if (asked_q) assert (u_memory.gen_read[read].address_q == watched_i);
            if (asked_q && written_q && !recent) assert (u_memory.gen_read[read].word_q == word_q);
            if (!started_q) assert (!asked_q);
            if (asked_q && writes) assert (element[read*Width+:Width] == write_element_i);
            else if (asked_q && written_q) assert (element[read*Width+:Width] == word_q);
        end
    end
endmodule

// Proof of the delay line: in any pattern of steps, from the reset on, the word at its output is the one that was at its input
// Length steps ago, as soon as there were so many. No word is read while it is written.
module delay_line_proof #(
    parameter int unsigned Width  = 2,
    parameter int unsigned Length = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic step_i,

    input logic [Width-1:0] in_data_i
);
    logic [Width-1:0] out_data;
    pushmem_delay_line #(.Width(Width), .Length(Length)) u_line (
        .clk_i, .rst_ni, .step_i, .in_data_i, .out_data_o(out_data)
    );

    // Reset in the first cycle, and never again.
    logic started_q = 1'b0;
    always_ff @(posedge clk_i) started_q <= 1'b1;
    always_comb assume (rst_ni == started_q);

    // A ring with the last words: the next one overwrites the oldest.
    localparam int unsigned Words = Length - 1;
    localparam int unsigned Bits  = $clog2(Length + 1);
    logic [Bits-1:0]  come_q  = '0;
    logic [Bits-1:0]  place_q = '0;
    logic [Width-1:0] words_q [Length];
    always_ff @(posedge clk_i) begin
        if (started_q && step_i) begin
            words_q[place_q] <= in_data_i;
            place_q          <= place_q == Length - 1 ? '0 : place_q + 1'b1;
            if (come_q != Length) come_q <= come_q + 1'b1;
        end
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        if (!started_q) assert (come_q == 0 && place_q == 0);
        if (started_q) begin
            assert (place_q < Length);
            assert (come_q <= Length);
            assert (u_line.write_address_q < Words);
            assert (u_line.read_address_q == (u_line.write_address_q == Words - 1 ? 0 : u_line.write_address_q + 1));
            for (int age = 0; age < Words; age++) begin
                automatic logic [Bits:0] place   = {1'b0, place_q} + (place_q > age ? 0 : Length) - age - 1;
                automatic logic [Bits:0] address = u_line.write_address_q + (u_line.write_address_q > age ? 0 : Words) - age - 1;
                if (age < come_q) assert (u_line.words[address] == words_q[place[Bits-1:0]]);
                if (age == Words - 1 && age < come_q) assert (u_line.read_q == words_q[place[Bits-1:0]]);
            end
        end
    end

    always_comb begin
        if (started_q) assert (u_line.read_address_q != u_line.write_address_q);
        if (started_q && come_q == Length) assert (out_data == words_q[place_q]);
    end
endmodule

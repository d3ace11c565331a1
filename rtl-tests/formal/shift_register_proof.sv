// Proof of the shift register: in any pattern of steps, the word at its output is the one that was at its input Length
// steps ago, as soon as there were so many.
module shift_register_proof #(
    parameter int unsigned Width  = 2,
    parameter int unsigned Length = 3
) (
    input logic clk_i,
    input logic step_i,

    input logic [Width-1:0] in_data_i
);
    logic [Width-1:0] out_data;
    pushmem_shift_register #(.Width(Width), .Length(Length)) u_register (.clk_i, .step_i, .in_data_i, .out_data_o(out_data));

    // A ring with the last words: the next one overwrites the oldest.
    localparam int unsigned Bits = $clog2(Length + 1);
    logic [Bits-1:0]  come_q  = '0;
    logic [Bits-1:0]  place_q = '0;
    logic [Width-1:0] words_q [Length];
    always_ff @(posedge clk_i) begin
        if (step_i) begin
            words_q[place_q] <= in_data_i;
            place_q          <= place_q == Length - 1 ? '0 : place_q + 1'b1;
            if (come_q != Length) come_q <= come_q + 1'b1;
        end
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        assert (place_q < Length);
        assert (come_q <= Length);
        for (int age = 0; age < Length; age++) begin
            automatic logic [Bits:0] place = {1'b0, place_q} + (place_q > age ? 0 : Length) - age - 1;
            if (age < come_q) assert (u_register.words_q[age*Width +: Width] == words_q[place[Bits-1:0]]);
        end
    end

    always_comb begin
        if (come_q == Length) assert (out_data == words_q[place_q]);
    end
endmodule

// Proof of the shift register: in any pattern of steps, the word at its output is the one that was at its input LENGTH
// steps ago, as soon as there were so many.
module shift_register_proof #(
    parameter int unsigned WIDTH  = 2,
    parameter int unsigned LENGTH = 3
) (
    input logic clk,
    input logic step,

    input logic [WIDTH-1:0] in_data
);
    logic [WIDTH-1:0] out_data;
    pushmem_shift_register #(.WIDTH(WIDTH), .LENGTH(LENGTH)) u_register (.clk, .step, .in_data, .out_data);

    // A ring with the last words: the next one overwrites the oldest.
    localparam int unsigned BITS = $clog2(LENGTH + 1);
    logic [BITS-1:0]  come_q  = '0;
    logic [BITS-1:0]  place_q = '0;
    logic [WIDTH-1:0] words_q [LENGTH];
    always_ff @(posedge clk) begin
        if (step) begin
            words_q[place_q] <= in_data;
            place_q          <= place_q == LENGTH - 1 ? '0 : place_q + 1'b1;
            if (come_q != LENGTH) come_q <= come_q + 1'b1;
        end
    end

    // Helping invariants, on what is inside the module, make the proof inductive. They are proved with the rest.
    always_comb begin
        assert (place_q < LENGTH);
        assert (come_q <= LENGTH);
        for (int age = 0; age < LENGTH; age++) begin
            automatic logic [BITS:0] place = {1'b0, place_q} + (place_q > age ? 0 : LENGTH) - age - 1;
            if (age < come_q) assert (u_register.words_q[age*WIDTH +: WIDTH] == words_q[place[BITS-1:0]]);
        end
    end

    always_comb begin
        if (come_q == LENGTH) assert (out_data == words_q[place_q]);
    end
endmodule

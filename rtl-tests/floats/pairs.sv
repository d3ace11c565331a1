// The operations of a processing element on numbers of one format, each in one of its own, on the same pair of words.
module pairs (
    input  logic [15:0] a_i,
    input  logic [15:0] b_i,
    output logic [15:0] sum_o,
    output logic [15:0] difference_o,
    output logic [15:0] product_o,
    output logic [15:0] from_integer_o,
    output logic [15:0] to_integer_o,
    output logic        equal_o,
    output logic        less_o,
    output logic        less_equal_o
);
    // In the order of the specification that scripts/floats writes.
    logic [7:0][15:0] words;
    logic [7:0]       flags;
    for (genvar k = 0; k < 8; k++) begin : gen_operation
        numbers_pe u_pe (
            .clk_i           (1'b0),
            .step_i          (1'b0),
            .operation_i     (3'(k)),
            .data_mode_i     (4'b0101),
            .data_constant_i ('0),
            .data_i          ({b_i, a_i}),
            .result_o        (words[k]),
            .result_bit_o    (flags[k])
        );
    end
    assign {to_integer_o, from_integer_o}         = {words[7], words[6]};
    assign {product_o, difference_o, sum_o}       = {words[2], words[1], words[0]};
    assign {less_equal_o, less_o, equal_o}        = flags[5:3];
endmodule

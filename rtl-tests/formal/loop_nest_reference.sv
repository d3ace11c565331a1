// Reference for the proofs: a loop nest in the plainest terms, counting up, level 0 innermost.
//
// Parameters: LEVELS of loops; EXTENT_BITS, the width of an extent less one, which is what `lasts` holds.
// Timing: `flush` starts it over, `enable` permitting, and wins over `step`, which goes to the next point.
module loop_nest_reference #(
    parameter int unsigned LEVELS      = 2,
    parameter int unsigned EXTENT_BITS = 2
) (
    input  logic                          clk,
    input  logic                          rst_n,
    input  logic                          flush,
    input  logic                          enable,
    input  logic                          step,
    input  logic [LEVELS*EXTENT_BITS-1:0] lasts,
    output logic                          active,
    output logic                          at_end,
    output logic [LEVELS*EXTENT_BITS-1:0] indices,
    output logic [LEVELS-1:0]             increments
);
    logic [LEVELS*EXTENT_BITS-1:0] next_indices;

    always_comb begin
        automatic logic carry = 1'b1;
        next_indices = indices;
        increments   = '0;
        for (int level = 0; level < LEVELS; level++) begin
            if (carry) begin
                if (indices[level*EXTENT_BITS +: EXTENT_BITS] == lasts[level*EXTENT_BITS +: EXTENT_BITS]) begin
                    next_indices[level*EXTENT_BITS +: EXTENT_BITS] = '0;
                end else begin
                    next_indices[level*EXTENT_BITS +: EXTENT_BITS] = indices[level*EXTENT_BITS +: EXTENT_BITS] + 1'b1;
                    increments[level] = 1'b1;
                    carry = 1'b0;
                end
            end
        end
        at_end = carry;
    end

    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            active  <= 1'b0;
            indices <= '0;
        end else if (flush) begin
            active  <= enable;
            indices <= '0;
        end else if (active && step) begin
            active  <= !at_end;
            indices <= next_indices;
        end
    end
endmodule

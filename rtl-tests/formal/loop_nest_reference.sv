// Reference for the proofs: a loop nest in the plainest terms, counting up, level 0 innermost.
//
// Parameters: Levels of loops; ExtentBits, the width of an extent less one, which is what `lasts` holds.
// Timing: `flush` starts it over, `enable` permitting, and wins over `step`, which goes to the next point.
module loop_nest_reference #(
    parameter int unsigned Levels      = 2,
    parameter int unsigned ExtentBits = 2
) (
    input  logic                          clk_i,
    input  logic                          rst_ni,
    input  logic                          flush_i,
    input  logic                          enable_i,
    input  logic                          step_i,
    input  logic [Levels*ExtentBits-1:0] lasts_i,
    output logic                          active_o,
    output logic                          at_end_o,
    output logic [Levels*ExtentBits-1:0] indices_o,
    output logic [Levels-1:0]             increments_o
);
    logic [Levels*ExtentBits-1:0] next_indices;

    always_comb begin
        automatic logic carry = 1'b1;
        next_indices = indices_o;
        increments_o   = '0;
        for (int level = 0; level < Levels; level++) begin
            if (carry) begin
                if (indices_o[level*ExtentBits +: ExtentBits] == lasts_i[level*ExtentBits +: ExtentBits]) begin
                    next_indices[level*ExtentBits +: ExtentBits] = '0;
                end else begin
                    next_indices[level*ExtentBits +: ExtentBits] = indices_o[level*ExtentBits +: ExtentBits] + 1'b1;
                    increments_o[level] = 1'b1;
                    carry = 1'b0;
                end
            end
        end
        at_end_o = carry;
    end

    always_ff @(posedge clk_i, negedge rst_ni) begin
        if (!rst_ni) begin
            active_o  <= 1'b0;
            indices_o <= '0;
        end else if (flush_i) begin
            active_o  <= enable_i;
            indices_o <= '0;
        end else if (active_o && step_i) begin
            active_o  <= !at_end_o;
            indices_o <= next_indices;
        end
    end
endmodule

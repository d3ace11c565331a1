// Reference for the proofs: an affine function of the loop indices, start + Σ stride · index, and the steps that its
// recurrence form needs, delta_d = stride_d − Σ_{i<d} stride_i · (extent_i − 1), all modulo Modulus (0: 2^Width).
//
// Parameters: Levels of loops; widths; WrongDelta plants an error in the deltas, which a proof has to find.
// Timing: combinational. Start and strides are below the modulus.
module affine_reference #(
    parameter int unsigned Levels      = 2,
    parameter int unsigned ExtentBits = 2,
    parameter int unsigned Width       = 3,
    parameter int unsigned Modulus     = 0,
    parameter bit          WrongDelta = 1'b0
) (
    input  logic [Levels*ExtentBits-1:0] indices_i,
    input  logic [Levels*ExtentBits-1:0] lasts_i,
    input  logic [Width-1:0]              start_i,
    input  logic [Levels*Width-1:0]       strides_i,
    output logic [Width-1:0]              value_o,
    output logic [Levels*Width-1:0]       terms_o,
    output logic [Levels*Width-1:0]       deltas_o
);
    // Wide enough for the whole sum, so that nothing wraps but at the modulus.
    localparam int unsigned SumBits = Width + ExtentBits + Levels + 1;
    localparam logic [SumBits-1:0] Limit = Modulus == 0 ? SumBits'(1) << Width : SumBits'(Modulus);

    always_comb begin
        automatic logic [SumBits-1:0] sum = SumBits'(start_i);
        // The negative of what the levels inside have moved by the time they return.
        automatic logic [SumBits-1:0] back = '0;
        for (int level = 0; level < Levels; level++) begin
            automatic logic [SumBits-1:0] stride = SumBits'(strides_i[level*Width +: Width]);
            automatic logic [SumBits-1:0] last   = SumBits'(lasts_i[level*ExtentBits +: ExtentBits]);
            automatic logic [SumBits-1:0] term   = stride * SumBits'(indices_i[level*ExtentBits +: ExtentBits]);
            sum = sum + term;
            terms_o[level*Width +: Width]  = Width'(term % Limit);
            deltas_o[level*Width +: Width] = Width'((stride + back) % Limit);
            back = back + (Limit - stride) * (WrongDelta ? last + 1'b1 : last);
        end
        value_o = Width'(sum % Limit);
    end
endmodule

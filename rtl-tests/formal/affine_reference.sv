// Reference for the proofs: an affine function of the loop indices, start + Σ stride · index, and the steps that its
// recurrence form needs, delta_d = stride_d − Σ_{i<d} stride_i · (extent_i − 1), all modulo MODULUS (0: 2^WIDTH).
//
// Parameters: LEVELS of loops; widths; WRONG_DELTA plants an error in the deltas, which a proof has to find.
// Timing: combinational. Start and strides are below the modulus.
module affine_reference #(
    parameter int unsigned LEVELS      = 2,
    parameter int unsigned EXTENT_BITS = 2,
    parameter int unsigned WIDTH       = 3,
    parameter int unsigned MODULUS     = 0,
    parameter bit          WRONG_DELTA = 1'b0
) (
    input  logic [LEVELS*EXTENT_BITS-1:0] indices,
    input  logic [LEVELS*EXTENT_BITS-1:0] lasts,
    input  logic [WIDTH-1:0]              start,
    input  logic [LEVELS*WIDTH-1:0]       strides,
    output logic [WIDTH-1:0]              value,
    output logic [LEVELS*WIDTH-1:0]       terms,
    output logic [LEVELS*WIDTH-1:0]       deltas
);
    // Wide enough for the whole sum, so that nothing wraps but at the modulus.
    localparam int unsigned SUM_BITS = WIDTH + EXTENT_BITS + LEVELS + 1;
    localparam logic [SUM_BITS-1:0] LIMIT = MODULUS == 0 ? SUM_BITS'(1) << WIDTH : SUM_BITS'(MODULUS);

    always_comb begin
        automatic logic [SUM_BITS-1:0] sum = SUM_BITS'(start);
        // The negative of what the levels inside have moved by the time they return.
        automatic logic [SUM_BITS-1:0] back = '0;
        for (int level = 0; level < LEVELS; level++) begin
            automatic logic [SUM_BITS-1:0] stride = SUM_BITS'(strides[level*WIDTH +: WIDTH]);
            automatic logic [SUM_BITS-1:0] last   = SUM_BITS'(lasts[level*EXTENT_BITS +: EXTENT_BITS]);
            automatic logic [SUM_BITS-1:0] term   = stride * SUM_BITS'(indices[level*EXTENT_BITS +: EXTENT_BITS]);
            sum = sum + term;
            terms[level*WIDTH +: WIDTH]  = WIDTH'(term % LIMIT);
            deltas[level*WIDTH +: WIDTH] = WIDTH'((stride + back) % LIMIT);
            back = back + (LIMIT - stride) * (WRONG_DELTA ? last + 1'b1 : last);
        end
        value = WIDTH'(sum % LIMIT);
    end
endmodule

// Waves of `{{ view.module }}` for a viewer: for simulations only, and bound into the hardware.
//
// Each named block is a group of signals. An operation or controller `fires` in a cycle with an iteration; its loop
// indices are those of that iteration, or between two, of the next. They count from 0.
/* verilator lint_off DECLFILENAME */
/* verilator lint_off UNUSEDSIGNAL */

// The indices of a controller's loops, level 0 lowest: they follow its firings. Extents are given minus one.
module pushmem_wave_indices #(
    parameter int unsigned Levels      = 1,
    parameter int unsigned ExtentBits = 1
) (
    input  logic                              clk_i,
    input  logic                              flush_i,
    input  logic                              advance_i,
    input  logic [(Levels * ExtentBits)-1:0] extents_i,
    output logic [(Levels * ExtentBits)-1:0] indices_o
);
    // Levels at their last index; levels inside which all are.
    logic [Levels-1:0] at_last;
    logic [Levels-1:0] changes;
    logic              all_last;
    always_comb begin
        all_last = 1'b1;
        for (int level = 0; level < Levels; level++) begin
            changes[level] = all_last;
            all_last       = all_last && at_last[level];
        end
    end
    for (genvar level = 0; level < Levels; level++) begin : gen_level
        logic [ExtentBits-1:0] index_q;
        assign at_last[level]                            = index_q == extents_i[level * ExtentBits+:ExtentBits];
        assign indices_o[level * ExtentBits+:ExtentBits] = index_q;
        always_ff @(posedge clk_i) begin
            if (flush_i || (advance_i && changes[level] && at_last[level])) begin
                index_q <= '0;
            end else if (advance_i && changes[level]) begin
                index_q <= index_q + 1'b1;
            end
        end
    end
endmodule

module {{ view.module }}_{{ instance }};
    logic clk;
    logic rst_n;
    logic flush;
    logic step;
    logic [{{ cycle_bits - 1 }}:0] cycle_q;
    assign clk   = {{ view.module }}.clk_i;
    assign rst_n = {{ view.module }}.rst_ni;
    assign flush = {{ view.flush }};
    assign step  = {{ view.step }};
    always_ff @(posedge clk) begin
        cycle_q <= flush ? '0 : step ? cycle_q + 1'b1 : cycle_q;
    end

{{ groups }}endmodule

bind {{ view.module }} {{ view.module }}_{{ instance }} {{ instance }} ();

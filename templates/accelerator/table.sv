// Table `{{ table }}`: {{ words.len() }} entries, as a memory of constants.
//
// Timing: with `step_i`, `word_o` shows in the next cycle the entry at `address_i`; without, nothing changes.
module {{ name }} (
    input  logic{{ clock_space }} clk_i,
    input  logic{{ clock_space }} step_i,
    input  logic{{ address_range }} address_i,
    output logic{{ word_range }} word_o
);
    always_ff @(posedge clk_i) begin
        if (step_i) begin
            unique0 case (address_i)
{%- for word in words %}
                {{ word }}
{%- endfor %}
                default: word_o <= '0;
            endcase
        end
    end
endmodule

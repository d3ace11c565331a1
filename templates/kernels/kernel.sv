{%- for line in description %}
// {{ line }}
{%- endfor %}
//
// Latency: {{ latency }}{% if latency == 1 %} cycle{% else %} cycles{% endif %}, of those in which `step_i` is high;
// in others nothing changes. A new result every cycle.
module {{ name }} (
{%- for port in ports %}
    {{ port.declaration }}{% if !loop.last %},{% endif %}
{%- if !port.comment.is_empty() %} // {{ port.comment }}{% endif %}
{%- endfor %}
);
{%- for table in tables %}

    // Entries of `{{ table.name }}`, the first on the left; 0 outside of the table.
    function automatic logic {{ table.entry_range }} {{ table.function }}(input logic {{ table.index_range }} index);
        logic {{ table.row_range }} row;
        unique0 case (index[{{ table.index_bits - 1 }}:{{ table.column_bits }}])
{%- for row in table.rows %}
            {{ row }}
{%- endfor %}
            default: row = '0;
        endcase
        {{ table.function }} =
            row[{~index[{{ table.column_bits - 1 }}:0], {{ table.entry_shift }}'d0} +: {{ table.entry_bits }}];
    endfunction
{%- endfor %}
{%- if !unused.is_empty() %}

    // Inputs without effect on the result.
{%- for line in unused %}
    {{ line }}
{%- endfor %}
{%- endif %}
{%- for stage in stages %}
{%- if !stage.lines.is_empty() %}

    // Stage {{ stage.number }}
{%- for line in stage.lines %}
    {{ line }}
{%- endfor %}
{%- endif %}
{%- if !stage.registers.is_empty() %}

    // Registers from stage {{ stage.number }} to stage {{ stage.number + 1 }}
{%- for register in stage.registers %}
    {{ register.declaration }};
{%- endfor %}
    always_ff @(posedge clk_i) begin
        if (step_i) begin
{%- for register in stage.registers %}
            {{ register.name }} <= {{ register.source }};
{%- endfor %}
        end
    end
{%- endif %}
{%- endfor %}

    assign result_o = {{ result }};

endmodule

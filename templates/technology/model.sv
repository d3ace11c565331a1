// Behavioural model of the macro {{ binding.name }}: {{ binding.depth }} rows of {{ binding.width }} bits. For simulation; synthesis takes stubs/{{ binding.name }}.sv.
//
{%- if one_cycle() %}
// Timing: a row that was read is on the output for one cycle, then something else.
{%- else %}
// Timing: a row that was read is on the output until the port reads the next.
{%- endif %}
module {{ binding.name }} (
{%- for declaration in crate::technology::declarations(binding) %}
    {{ declaration }}{% if !loop.last %},{% endif %}
{%- endfor %}
);
    logic [{{ binding.width - 1 }}:0] rows [{{ binding.depth }}];
{%- if !binding.constants.is_empty() %}
    logic tied_unused;
    always_comb tied_unused = &{1'b0{% for (name, _) in binding.constants %}, {{ name }}{% endfor %}};
{%- endif %}
{%- for (clock, edge, ports) in clocks() %}

    always_ff @({{ edge }} {{ clock }}) begin
{%- for entry in ports %}
{%- let port = entry.port %}
{%- if let Some(write) = entry.write() %}
        if ({{ write }}) begin
{%- if let Some((masked, bits)) = entry.masked() %}
            for (int part = 0; part < {{ binding.width / bits }}; part++) begin
                if ({{ masked }}) begin
                    rows[{{ port.address }}][part * {{ bits }}+:{{ bits }}] <= {{ port.data_in.as_deref().unwrap_or_default() }}[part * {{ bits }}+:{{ bits }}];
                end
            end
{%- else %}
            rows[{{ port.address }}] <= {{ port.data_in.as_deref().unwrap_or_default() }};
{%- endif %}
        end
{%- endif %}
{%- if let Some(read) = entry.read() %}
        if ({{ read }}) begin
            {{ port.data_out.as_deref().unwrap_or_default() }} <= rows[{{ port.address }}];
{%- if one_cycle() %}
        end else begin
            {{ port.data_out.as_deref().unwrap_or_default() }} <= ~{{ port.data_out.as_deref().unwrap_or_default() }};
{%- endif %}
        end
{%- endif %}
{%- endfor %}
    end
{%- endfor %}
endmodule

// Behavioural model of the macro {{ binding.name }}: {{ binding.depth }} rows of {{ binding.width }} bits. For
// simulation; synthesis takes stubs/{{ binding.name }}.sv.
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
    logic [{{ binding.width - 1 }}:0] pushmem_rows [{{ binding.depth }}];
{%- if !binding.constants.is_empty() %}
    logic pushmem_tied_unused;
    always_comb pushmem_tied_unused = &{1'b0{% for (name, _) in binding.constants %}, {{ name }}{% endfor %}};
{%- endif %}
{%- for (clock, edge, ports) in clocks() %}

    {% if one_writer() %}always_ff{% else %}always{% endif %} @({{ edge }} {{ clock }}) begin
{%- for entry in ports %}
{%- let port = entry.port %}
{%- if let Some(write) = entry.write() %}
        if ({{ write }}) begin
{%- if let Some((masked, bits)) = entry.masked() %}
{%- for (first, end) in entry.loops(binding.width / bits) %}
            for (int pushmem_part = {{ first }}; pushmem_part < {{ end }}; pushmem_part++) begin
                if ({{ masked }}) begin
                    pushmem_rows[{{ port.address }}][pushmem_part * {{ bits }}+:{{ bits }}] <=
                        {{ port.data_in.as_deref().unwrap_or_default() }}[pushmem_part * {{ bits }}+:{{ bits }}];
                end
            end
{%- endfor %}
{%- else %}
            pushmem_rows[{{ port.address }}] <= {{ port.data_in.as_deref().unwrap_or_default() }};
{%- endif %}
        end
{%- endif %}
{%- if let Some(read) = entry.read() %}
        if ({{ read }}) begin
            {{ port.data_out.as_deref().unwrap_or_default() }} <= pushmem_rows[{{ port.address }}];
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

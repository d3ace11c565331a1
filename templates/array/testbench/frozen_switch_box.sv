{{ header }}
{%- for hop in hops %}
    logic [{{ width - 1 }}:0] {{ hop.name }}_q;
{%- if let Some(item) = hop.item %}
    pushmem_hop #(
        .Width   ({{ width }}),
        .Choices (1)
    ) u_{{ hop.name }} (
        .clk_i    (clk_i),
        .step_i   (step_i),
        .select_i (1'd1),
        .items_i  ({{ item }}),
        .track_o  ({{ hop.name }}_q)
    );
{%- else %}
    assign {{ hop.name }}_q = '0;
{%- endif %}
    assign {{ hop.output }} = {% if let Some(passes) = hop.passes %}({{ passes }}) ? {{ hop.straight }} : {% endif -%}
        {{ hop.name }}_q;
{%- endfor %}
endmodule

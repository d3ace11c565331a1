{%- for line in description %}
//{% if !line.is_empty() %} {{ line }}{% endif %}
{%- endfor %}
{%- if self.asserts() %}
`include "pushmem_assert.svh"
{% endif %}
module {{ name }} (
{%- for group in ports %}
{%- for line in group %}
    {{ line }}
{%- endfor %}
{%- endfor %}
);
{%- for section in sections %}
{%- if !loop.first %}
{% endif %}
{%- for line in section.comment %}
    // {{ line }}
{%- endfor %}
{{ section.body }}
{%- endfor %}
endmodule

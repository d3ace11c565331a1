struct {{ name }}_image {{ name }}_dense(const struct {{ name }}_program *program, unsigned image, uint64_t address)
{
    const struct {{ name }}_shape *shape = &program->image[image];
    struct {{ name }}_image dense = {address, shape->element_bytes, {0}};
    uint32_t dimension;
    for (dimension = 0; dimension < shape->dimensions; ++dimension) {
        if (dimension > 0) {
            dense.stride[dimension - 1] = (int32_t)dense.bytes;
        }
        dense.bytes *= shape->size[dimension];
    }
    return dense;
}

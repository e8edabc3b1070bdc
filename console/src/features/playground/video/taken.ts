/** The fields that the chosen model takes, as it states them; one that states none takes any. */
interface Field {
  readonly name: string
  readonly values?: readonly (string | number)[] | undefined
  readonly min?: number | undefined
  readonly max?: number | undefined
  readonly also?: number | undefined
}

interface FieldsOf {
  readonly fields: readonly Field[] | null
}

const fieldOf = ({ fields }: FieldsOf, name: string): Field | undefined =>
  fields?.find((field) => field.name === name)

export function takes(model: FieldsOf, name: string): boolean {
  return model.fields === null || fieldOf(model, name) !== undefined
}

/** Returns the only values of a field, as texts; undefined if it may have any. */
export function textsOf(model: FieldsOf, name: string): string[] | undefined {
  return fieldOf(model, name)?.values?.map(String)
}

export function rangeOf(model: FieldsOf, name: string) {
  const { values, min, max, also } = fieldOf(model, name) ?? {}
  const edges = [...(values ?? [min, max]), also].filter((one) => one !== undefined).map(Number)
  if (edges.length === 0) return {}
  return { min: Math.min(...edges), max: Math.max(...edges) }
}

/** Returns a value of the form that the model takes; undefined for one of another model. */
export function onlyTaken<Value>(model: FieldsOf, name: string, value: Value): Value | undefined {
  if (!takes(model, name)) return undefined
  const { values, also } = fieldOf(model, name) ?? {}
  const texts = values && [...values, also].map(String)
  return texts === undefined || texts.includes(String(value)) ? value : undefined
}

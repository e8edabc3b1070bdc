/** The fields that the chosen model takes, as it states them; one that states none takes any. */
import type { PlaygroundModel } from '../frame/capability.ts'

type Field = NonNullable<PlaygroundModel['fields']>[number]

const fieldOf = ({ fields }: PlaygroundModel, name: string): Field | undefined =>
  fields?.find((field) => field.name === name)

export function takes(model: PlaygroundModel, name: string): boolean {
  return model.fields === null || fieldOf(model, name) !== undefined
}

/** Returns the only values of a field, as texts; undefined if it may have any. */
export function textsOf(model: PlaygroundModel, name: string): string[] | undefined {
  return fieldOf(model, name)?.values?.map(String)
}

export function rangeOf(model: PlaygroundModel, name: string) {
  const { values, min, max, also } = fieldOf(model, name) ?? {}
  const edges = [...(values ?? [min, max]), also].filter((one) => one !== undefined).map(Number)
  if (edges.length === 0) return {}
  return { min: Math.min(...edges), max: Math.max(...edges) }
}

/** Returns a value of the form that the model takes; undefined for one of another model. */
export function onlyTaken<Value>(
  model: PlaygroundModel,
  name: string,
  value: Value,
): Value | undefined {
  if (!takes(model, name)) return undefined
  const texts = textsOf(model, name)
  return texts === undefined || texts.includes(String(value)) ? value : undefined
}

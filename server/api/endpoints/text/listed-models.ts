/** The field in which callers list models. */
import { z } from 'zod'

export const listedModels = z
  .array(z.string())
  .nullish()
  .describe(
    'Models to try in turn, after `model` if it is set. The call is charged at the price of the ' +
      'model that the header `x-tributary-model` names.',
  )

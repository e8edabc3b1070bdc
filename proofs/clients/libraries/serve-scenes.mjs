/** Plays the scenes of one client library when the parent process asks for them. */

/** @param {Record<string, (scene: object) => Promise<unknown>>} scenes by their names. */
export function serveScenes(scenes) {
  process.on('message', async ({ name, ...scene }) => {
    try {
      process.send({ answer: await scenes[name](scene) })
    } catch (error) {
      process.send({ error: describe(error) })
    }
  })
  process.on('disconnect', () => process.exit())
  process.send({ names: Object.keys(scenes) })
}

/** The text that a user of the library sees, with its causes. */
function describe(error) {
  const message = error instanceof Error ? error.message : JSON.stringify(error)
  return error?.cause === undefined ? message : `${message}: ${describe(error.cause)}`
}

/** Throws when the arguments of a tool call did not come through whole. */
export function tellWeather(input) {
  if (typeof input?.city !== 'string') throw new Error(`called with ${JSON.stringify(input)}`)
  return `sunny in ${input.city}`
}

const CITY = { city: { type: 'string' } }

export const WEATHER_SCHEMA = {
  type: 'object',
  properties: CITY,
  required: ['city'],
  additionalProperties: false,
}

export const REPORT_SCHEMA = {
  type: 'object',
  properties: { ...CITY, sky: { type: 'string' } },
  required: ['city', 'sky'],
  additionalProperties: false,
}

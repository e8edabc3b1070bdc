// Checks a request as the vendor does: unknown fields, roles, calls with their results, signatures,
// and what newer generations of models no longer take.
import { isInteger, isNumber, isObject, type Json, objects, text } from '../../kernel/checks.ts'
import { invalid } from '../errors.ts'
import { generationOf, isValidSignature } from './models.ts'

const BODY = `contents systemInstruction tools toolConfig generationConfig safetySettings
  cachedContent serviceTier labels continuationToken`
const PART = `text inlineData fileData functionCall functionResponse thought thoughtSignature
  executableCode codeExecutionResult videoMetadata mediaResolution`
const CONFIG = `temperature topP topK candidateCount maxOutputTokens stopSequences seed
  presencePenalty frequencyPenalty responseLogprobs logprobs responseMimeType responseSchema
  responseJsonSchema responseModalities mediaResolution speechConfig thinkingConfig imageConfig`
const TOOL = 'functionDeclarations googleSearch urlContext codeExecution googleMaps'
const DATA = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse']
const MEDIA = /^(?:image|audio|video)\/[\w.+-]+$|^application\/pdf$|^text\/[\w.+-]+$/

function only(json: Json, names: string, at: string): void {
  const known = names.split(/\s+/)
  const unknown = Object.keys(json).find((name) => !known.includes(name))
  if (unknown) {
    throw invalid(
      `Invalid JSON payload received. Unknown name "${unknown}" at '${at}': Cannot find field.`,
    )
  }
}

export function checkContentsRequest(json: unknown, model: string): asserts json is Json {
  if (!isObject(json)) throw invalid('Request contains an invalid argument.')
  only(json, BODY, '')
  const contents = objects(json.contents)
  if (contents.length === 0)
    throw invalid('* GenerateContentRequest.contents: contents is not specified')
  for (const [index, content] of contents.entries()) checkContent(content, index)
  if (json.systemInstruction !== undefined && !isObject(json.systemInstruction)) {
    throw invalid('Invalid value at system_instruction')
  }
  if (json.continuationToken !== undefined && tokensBefore(json) === undefined)
    throw invalid('The continuation token is invalid.')
  checkTools(json, model)
  checkConfig(json, model)
  checkResults(contents)
  checkSignatures(contents, model)
  if (generationOf(model) < 4) return
  if (contents.at(-1)?.role === 'model')
    throw invalid('Prefilling the answer is not supported by this model.')
  if (json.cachedContent !== undefined)
    throw invalid('Explicit caching is not supported by this model.')
}

/**
 * Tokens that an earlier request wrote and that this one continues: they are read as its prompt.
 */
export function tokensBefore({ continuationToken: token }: Json): number | undefined {
  const count = /^next-(\d{1,9})$/.exec(text(token))?.[1]
  return count === undefined ? undefined : Number(count)
}

export const tokenAfter = (count: number): string => `next-${count}`

function checkContent(content: Json, index: number): void {
  const at = `contents[${index}]`
  only(content, 'role parts', at)
  // The vendor's quick start names no role; the default is the user.
  const { role = 'user' } = content
  if (role !== 'user' && role !== 'model') {
    throw invalid('Please use a valid role: user, model.')
  }
  const parts = objects(content.parts)
  if (parts.length === 0) throw invalid(`* ${at}.parts: must not be empty`)
  for (const [position, part] of parts.entries()) checkPart(part, `${at}.parts[${position}]`)
}

function checkPart(part: Json, at: string): void {
  only(part, PART, at)
  const data = DATA.filter((name) => part[name] !== undefined)
  if (data.length !== 1)
    throw invalid(`* ${at}.data: required oneof field 'data' must have one initialized field`)
  const { inlineData: inline, fileData: file, functionCall: call, functionResponse: result } = part
  if (inline !== undefined) {
    if (!isObject(inline) || !MEDIA.test(text(inline.mimeType))) {
      throw invalid(`Unsupported MIME type: ${isObject(inline) ? text(inline.mimeType) : ''}`)
    }
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text(inline.data)))
      throw invalid(`Invalid value at '${at}' (Base64 decoding failed)`)
  }
  if (file !== undefined && (!isObject(file) || !/^(https|http|gs):/.test(text(file.fileUri)))) {
    throw invalid('Invalid or unsupported file uri')
  }
  if (
    call !== undefined &&
    (!isObject(call) || text(call.name) === '' || !isObject(call.args ?? {}))
  ) {
    throw invalid(`Invalid value at '${at}.function_call'`)
  }
  if (
    result !== undefined &&
    (!isObject(result) || text(result.name) === '' || !isObject(result.response))
  ) {
    throw invalid(`* ${at}.function_response: name cannot be empty, response is an object`)
  }
}

const partsOf = (content: Json | undefined, name: string) =>
  objects(content?.parts).filter((part) => part[name] !== undefined)

/** As many results as calls, in the content after them, and beside them at most media of theirs. */
function checkResults(contents: Json[]): void {
  for (const [index, content] of contents.entries()) {
    const calls = partsOf(content, 'functionCall')
    const results = partsOf(contents[index + 1], 'functionResponse')
    if (calls.length > 0 && contents[index + 1] !== undefined) {
      const isAlone = partsOf(contents[index + 1], 'text').length === 0
      if (results.length !== calls.length || !isAlone) {
        throw invalid(
          'Please ensure that the number of function response parts is equal to the number of ' +
            'function call parts of the function call turn.',
        )
      }
      const names = (parts: Json[], kind: string) =>
        parts.map((part) => text((part[kind] as Json).name)).join()
      if (names(calls, 'functionCall') !== names(results, 'functionResponse')) {
        throw invalid('Function responses must have the names of their calls, in their order.')
      }
    }
    if (partsOf(content, 'functionResponse').length > 0) {
      if (partsOf(contents[index - 1], 'functionCall').length === 0) {
        throw invalid(
          'Please ensure that function response turn comes immediately after a function call turn.',
        )
      }
    }
  }
}

function checkSignatures(contents: Json[], model: string): void {
  for (const part of contents.flatMap(({ parts }) => objects(parts))) {
    if (part.thoughtSignature === undefined) continue
    if (!isValidSignature(model, part.thoughtSignature))
      throw invalid('Corrupted thought signature.')
  }
  if (generationOf(model) < 3) return
  const spoken = contents.findLastIndex(
    (content) => content.role === 'user' && partsOf(content, 'functionResponse').length === 0,
  )
  for (const [index, content] of contents.entries()) {
    const [first] = partsOf(content, 'functionCall')
    if (index < spoken || content.role !== 'model' || !first) continue
    if (first.thoughtSignature !== undefined) continue
    throw invalid(
      `Function call is missing a thought_signature in functionCall parts. This is required for ` +
        `tools to work correctly. Function call \`${text((first.functionCall as Json).name)}\`, ` +
        `position ${index + 1}.`,
    )
  }
}

function checkTools(json: Json, model: string): void {
  const tools = objects(json.tools)
  for (const tool of tools) only(tool, TOOL, 'tools')
  const functions = tools.flatMap((tool) => objects(tool.functionDeclarations))
  for (const one of functions) {
    only(
      one,
      'name description parameters parametersJsonSchema response behavior',
      'function_declarations',
    )
    if (!/^[A-Za-z_][\w.:-]{0,63}$/.test(text(one.name))) {
      throw invalid('Invalid function name. Must start with a letter or an underscore.')
    }
  }
  const hosted = tools.some((tool) => tool.functionDeclarations === undefined)
  if (hosted && functions.length > 0) {
    throw invalid(
      'Built-in tools (search) and Function Calling cannot be combined in the same request.',
    )
  }
  const config = isObject(json.toolConfig) ? json.toolConfig.functionCallingConfig : undefined
  const names = isObject(config) ? config.allowedFunctionNames : undefined
  if (!Array.isArray(names)) return
  const known = functions.map(({ name }) => name)
  if (!names.every((name) => known.includes(name))) {
    throw invalid('Allowed function names must be declared.')
  }
  if (generationOf(model) < 1.5) throw invalid('Function calling is not supported.')
}

function checkConfig(json: Json, model: string): void {
  const config = isObject(json.generationConfig) ? json.generationConfig : {}
  only(config, CONFIG, 'generation_config')
  const generation = generationOf(model)
  const refuse = (wrong: boolean, message: string) => {
    if (wrong) throw invalid(message)
  }
  const { maxOutputTokens: most, temperature, stopSequences: stops, candidateCount: count } = config
  refuse(most !== undefined && !isInteger(most, 1), 'max_output_tokens must be positive.')
  refuse(
    temperature !== undefined && !isNumber(temperature, 0, 2),
    'temperature must be in the range [0.0, 2.0].',
  )
  refuse(Array.isArray(stops) && stops.length > 5, 'at most 5 stop sequences')
  refuse(
    config.responseJsonSchema !== undefined && config.responseMimeType !== 'application/json',
    'A schema needs the mime type application/json.',
  )
  const functions = objects(json.tools).some((tool) => tool.functionDeclarations !== undefined)
  refuse(
    generation < 3 && functions && config.responseMimeType === 'application/json',
    "Function calling with a response mime type: 'application/json' is unsupported",
  )
  checkThinking(config.thinkingConfig, generation)
  if (generation < 4) return
  refuse(
    config.presencePenalty !== undefined || config.frequencyPenalty !== undefined,
    'Penalty is not enabled for this model.',
  )
  refuse(count !== undefined && count !== 1, 'Multiple candidates are not enabled for this model.')
  refuse(Number(most ?? 0) > 65_536, 'max_output_tokens is beyond the limit of one request.')
}

function checkThinking(thinking: unknown, generation: number): void {
  if (!isObject(thinking)) return
  only(thinking, 'includeThoughts thinkingBudget thinkingLevel', 'thinking_config')
  const { thinkingBudget: budget, thinkingLevel: level } = thinking
  if (generation < 2.5) throw invalid('Thinking is not enabled for this model.')
  if (budget !== undefined && level !== undefined)
    throw invalid('You can only set one of thinking budget and thinking level.')
  if (level !== undefined && generation < 3)
    throw invalid('Thinking level is not supported for this model.')
  if (budget !== undefined && generation >= 4)
    throw invalid('Thinking budget is not supported for this model.')
  if (level === 'MINIMAL' && generation >= 4)
    throw invalid('Thinking level MINIMAL is not supported for this model.')
  if (level !== undefined && !['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'].includes(text(level))) {
    throw invalid('Invalid thinking level.')
  }
}

/**
 * Reads the result files of the minutes product into the neutral form
 * (docs/protocols/volcengine-minutes.md#result-files).
 */
import type { JsonObject } from '../../../base/lib/json.ts'
import { member } from '../../../base/lib/json.ts'
import {
  joinSentences,
  lastEndMs,
  listObjects,
  readPlainText,
  readSentence,
  readTimeMs,
} from './read-sentences.ts'

/** The parsed files; a file of an ability that was off is undefined. */
export interface MinutesDocuments {
  readonly transcription: unknown
  readonly summary: unknown
  readonly chapters: unknown
  readonly extraction: unknown
  readonly translation: unknown
}

/**
 * Returns the neutral result. Its `duration`, in seconds, is the end of the last sentence or
 * chapter.
 */
export function readDocuments(documents: MinutesDocuments): JsonObject {
  const sentences = listObjects(documents.transcription).map(readSentence)
  const { summary, chapters, extraction, translation } = documents
  return {
    duration: lastEndMs([...sentences, ...readChapters(chapters)]) / 1000,
    text: joinSentences(sentences),
    sentences,
    ...(summary === undefined ? {} : { summary: readSummary(summary) }),
    ...(chapters === undefined ? {} : { chapters: readChapters(chapters) }),
    ...(extraction === undefined ? {} : readExtraction(extraction)),
    ...(translation === undefined ? {} : { translation: readTranslation(translation) }),
  }
}

function readSummary(document: unknown): string {
  const title = readPlainText(member(document, 'title'))
  const paragraph = readPlainText(member(document, 'paragraph'))
  return [title, paragraph].filter((part) => part !== '').join('\n')
}

function readChapters(document: unknown) {
  return listObjects(member(document, 'chapter_summary')).map((chapter) => ({
    start_ms: readTimeMs(chapter.start_time),
    end_ms: readTimeMs(chapter.end_time),
    title: readPlainText(chapter.title),
    summary: readPlainText(chapter.summary),
  }))
}

function readExtraction(document: unknown): JsonObject {
  const todos = member(document, 'todo_list')
  const questions = member(document, 'question_answer')
  return {
    ...(todos === undefined ? {} : { todos: listObjects(todos).map(readTodo) }),
    ...(questions === undefined ? {} : { questions: listObjects(questions).map(readQuestion) }),
  }
}

function readTodo(todo: JsonObject) {
  const polished = member(todo.polished_res, 'content')
  const executors = Array.isArray(todo.executor) ? todo.executor.map(readPlainText) : []
  const deadline = readPlainText(todo.execution_ddl)
  return {
    content: readPlainText(polished ?? todo.content),
    executors: executors.filter((name) => name !== ''),
    ...(deadline === '' ? {} : { deadline }),
    start_ms: readTimeMs(todo.start_time),
  }
}

function readQuestion(item: JsonObject) {
  return { question: readPlainText(item.question), answer: readPlainText(item.answer) }
}

function readTranslation(document: unknown) {
  return listObjects(document).map((item) => {
    const { start_ms, end_ms, speaker, text } = readSentence(item)
    return { start_ms, end_ms, speaker, text, translation: readPlainText(item.translation_content) }
  })
}

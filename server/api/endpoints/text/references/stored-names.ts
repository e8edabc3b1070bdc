/** Members by which requests name what a vendor's account stores, and members that never do. */

function list(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}

/**
 * In lower case, since some vendors accept any case. A member with one of these names refers to an
 * object by a string or by several.
 */
export const BY_ID = list(
  `file files file_id file_ids fileid fileids input_file_id image_file_id container container_id
  containerid conversation conversation_id conversationid thread_id assistant_id context_id
  cached_content cachedcontent vector_store_id vector_store_ids vectorstoreid vectorstoreids
  collection_id collection_ids collections rag_corpus knowledge_id knowledge_ids knowledge_base_id
  knowledge_base_ids knowledge_resource_id library_id library_ids dataset_id dataset_ids skill_id
  previous_interaction_id`,
)

/**
 * These are references only if they are an object with an id; a string, or an object without one,
 * is something else.
 */
export const BY_OBJECT = list('prompt audio voice thread assistant')

/** URLs and lists of them, which may have a scheme of the vendor's own storage. */
export const BY_URL = list(
  `url uri image_url file_url video_url audio_url file_uri image images mask image_urls
  reference_images`,
)

/**
 * Members whose content is the caller's or the model's own: schemas, arguments of tools, what an
 * earlier answer states about its sources.
 */
export const OPAQUE = list(
  `parameters input_schema schema json_schema properties arguments input_examples guided_json
  metadata client_metadata chat_template_kwargs annotations citations usage action operation
  logit_bias caller`,
)

/** The native protocol of Volcengine's and BytePlus's ARK platform. */
import { sharesStored } from '../shared-settings.ts'
import { defineUpstream } from '../upstream.ts'
import { image } from './image.ts'
import { imageEdit } from './image-edit.ts'
import { arkImageRules, judgeArkImage } from './judge-image.ts'
import { arkSettings } from './settings.ts'
import { arkVideo, listOneTask } from './video.ts'

export const ark = defineUpstream({
  name: 'ark',
  settings: arkSettings,
  secrets: ['api_key'],
  sharesStored,
  probe: listOneTask,
  calls: { image, 'image-edit': imageEdit },
  images: arkImageRules,
  judges: { image: judgeArkImage },
  tasks: { video: arkVideo },
})

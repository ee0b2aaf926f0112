// What the server must know of a page that it renders, besides its markup: title and description,
// which belong into the head of the document. In a browser there is no collector, and effects set
// both.
import { createContext } from 'react'

export type HeadCollector = { title: string; description: string }

export const Head = createContext<HeadCollector | undefined>(undefined)

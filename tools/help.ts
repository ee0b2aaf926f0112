// npm run help: prints every npm script with one line.
import { helpText } from './scripts.ts'

console.log(helpText())

// What bot.ts uses of Node.js. Projects that install @types/node do not need this file.
declare const process: { argv: string[] };

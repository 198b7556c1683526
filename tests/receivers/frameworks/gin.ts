import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import type { Framework } from './framework.ts';

export const gin = (go: string): Framework => ({
  name: 'Gin',
  file: 'main.go',
  slash: { tooMany: 307, tooFew: 307 },
  complete: (snippet) => `package main

import (
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
)

func main() {
	secrets := []string{os.Getenv("WEBHOOK_SECRET")}
	router := gin.New()
${snippet}		ofBody := http.Header{"X-Service-Signature": c.Request.Header["X-Service-Signature"]}
		status := http.StatusUnauthorized
		if err == nil && isSigned(c.Request.Header, rawBody, secrets, 5*time.Minute) && isSigned(ofBody, rawBody, secrets, 0) {
			status = http.StatusNoContent
		}
		c.Status(status)
	})
	router.POST("/slash/", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	router.Run("127.0.0.1:" + os.Getenv("PORT"))
}
`,
  prepare: async (folder, run) => {
    await copyFile(join(projectFolder, 'examples/receivers/go/signature.go'), join(folder, 'signature.go'));
    await run(go, ['mod', 'init', 'program']);
    await run(go, ['get', 'github.com/gin-gonic/gin@v1.12.0']);
    await run(go, ['build', '-o', 'program', '.']);
    return { command: join(folder, 'program'), args: [] };
  },
});

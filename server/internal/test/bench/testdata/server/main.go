// Command server is a gRPC server with the contract but no implementation, for comparison.
package main

import (
	"context"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

type games struct {
	pb.UnimplementedGameServiceServer
}

func (games) GetServerInfo(context.Context, *pb.GetServerInfoRequest) (*pb.GetServerInfoResponse, error) {
	return &pb.GetServerInfoResponse{}, nil
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterGameServiceServer(server, games{})
	log.Fatal(server.Serve(listener))
}
